import { measurements } from "./answer";
import type { App } from "./app";
import type { Conversation } from "./conversations";
import { useEffect, useLayoutEffect, useRef } from "./hooks";
import { Button } from "./parts";

/** A text that the model continues: for models that were not trained to chat. */
export function TextPage({ app, conversation }: { app: App; conversation: Conversation }) {
  const { id, text, continuation } = conversation;
  const streaming = app.isStreaming(id);
  const ref = useRef<HTMLTextAreaElement>(null);
  useEffect(() => ref.current!.focus(), [id]);
  useLayoutEffect(() => {
    const area = ref.current!;
    if (streaming) area.scrollTop = area.scrollHeight;
  }, [text, streaming]);
  return (
    <div class="text-page">
      <textarea
        ref={ref}
        id="message"
        aria-label="Text"
        placeholder="Begin a text here; the model continues it. Ctrl+Enter: continue."
        value={text}
        readOnly={streaming}
        onInput={(event) => app.changeText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !event.isComposing) app.continueText();
        }}
      />
      {continuation?.error && (
        <div class="error">
          <p>{continuation.error}</p>
        </div>
      )}
      <div class="text-actions">
        {streaming ? (
          <Button icon="stop" label="Stop" shown kind="primary" onClick={() => app.stop(id)} />
        ) : (
          <Button icon="send" label="Continue" shown kind="primary" disabled={text === ""} onClick={() => app.continueText()} />
        )}
        <Button
          icon="undo"
          label="Take back"
          shown
          disabled={streaming || !continuation?.content}
          onClick={() => app.undoText()}
        />
        <p class="measured">{continuation && !streaming ? measurements(continuation).join(" · ") : ""}</p>
      </div>
    </div>
  );
}
