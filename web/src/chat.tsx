import { measurements, seconds } from "./answer";
import type { App } from "./app";
import type { Conversation, Message } from "./conversations";
import { memo, useEffect, useLayoutEffect, useRef, useState } from "./hooks";
import { Code, Markdown } from "./markdown/view";
import { Button, CopyButton, fitHeight } from "./parts";

export function Chat({ app, conversation }: { app: App; conversation: Conversation }) {
  const { id, messages } = conversation;
  const streaming = app.isStreaming(id);
  const [editing, setEditing] = useState<number>();
  const scroll = useScrolling(conversation);
  return (
    <>
      <div class="scroll" ref={scroll.ref} onScroll={scroll.onScroll}>
        {messages.length === 0 && <Welcome app={app} />}
        <ol class="messages" aria-label="Messages">
          {messages.map((message, index) => {
            if (message.role === "user" && editing === index)
              return (
                <li key={index} class="message user">
                  <Editor
                    content={message.content}
                    onCancel={() => setEditing(undefined)}
                    onSend={(content) => {
                      setEditing(undefined);
                      app.sendAt(index, content);
                    }}
                  />
                </li>
              );
            return (
              <MessageView
                key={index}
                app={app}
                message={message}
                index={index}
                streaming={streaming && index === messages.length - 1}
                quiet={streaming}
                onEdit={setEditing}
              />
            );
          })}
        </ol>
      </div>
      <div class="dock">
        {scroll.away && <Button icon="down" label="To the end" kind="to-end" onClick={scroll.toEnd} />}
        <Composer app={app} key={id} id={id} streaming={streaming} />
      </div>
    </>
  );
}

function Welcome({ app }: { app: App }) {
  return (
    <div class="welcome">
      <h2>{app.model ? `Chat with ${app.model.split("/").pop()}` : "LLMIR"}</h2>
      <p>
        What you write goes to this server only, and conversations stay in this browser. To let the model continue a text
        instead of answering,{" "}
        <button type="button" class="link" onClick={() => app.start("text")}>
          write a text
        </button>
        .
      </p>
    </div>
  );
}

interface MessageProps {
  app: App;
  message: Message;
  index: number;
  /** It is still being written. */
  streaming: boolean;
  /** There is nothing to be done with it now, because an answer is being written. */
  quiet: boolean;
  onEdit: (index: number) => void;
}

const MessageView = memo(
  ({ app, message, index, streaming, quiet, onEdit }: MessageProps) =>
    message.role === "user" ? (
      <li class="message user">
        <span class="hidden">You: </span>
        <div class="bubble">{message.content}</div>
        <div class="actions">
          <CopyButton text={message.content} what="message" />
          <Button icon="edit" label="Edit message" disabled={quiet} onClick={() => onEdit(index)} />
        </div>
      </li>
    ) : (
      <li class="message assistant" aria-busy={streaming}>
        <span class="hidden">Answer: </span>
        {message.thought && <Thought message={message} streaming={streaming} />}
        {message.content && <Markdown text={message.content} />}
        {message.calls?.map((call, i) => (
          <div class="call" key={i}>
            <p>Calls the tool {call.name || "…"}</p>
            <Code language="json" text={call.arguments} />
          </div>
        ))}
        {streaming && !message.content && !message.thought && <Waiting />}
        <Ending app={app} message={message} />
        {!streaming && (
          <div class="actions">
            {message.content && <CopyButton text={message.content} what="answer" />}
            <Button icon="again" label="Answer again" disabled={quiet} onClick={() => app.regenerate(index)} />
            <p class="measured">{measurements(message).join(" · ")}</p>
          </div>
        )}
      </li>
    ),
  (before, after) =>
    before.message === after.message && before.streaming === after.streaming && before.quiet === after.quiet &&
    before.index === after.index,
);

function Waiting() {
  return (
    <p class="waiting" role="img" aria-label="waiting for the first token">
      <span />
      <span />
      <span />
    </p>
  );
}

function Thought({ message, streaming }: { message: Message; streaming: boolean }) {
  const { startedAt, thoughtUntil, lastAt } = message;
  const thinking = streaming && thoughtUntil === undefined;
  const until = thoughtUntil ?? lastAt;
  const time = startedAt !== undefined && until !== undefined ? ` for ${seconds(until - startedAt)}` : "";
  return (
    <details class="thought">
      <summary>{thinking ? `Thinking${time}…` : `Thought${time}`}</summary>
      <Markdown text={message.thought ?? ""} />
    </details>
  );
}

/** The statuses with which a server may say that its model cannot chat. */
const mayWantText = new Set([400, 404, 422, 501]);

/** Why an answer ended, unless the model ended it. */
function Ending({ app, message }: { app: App; message: Message }) {
  if (message.error)
    return (
      <div class="error">
        <p>{message.error}</p>
        {message.status !== undefined && mayWantText.has(message.status) && (
          <button type="button" class="link" onClick={() => app.completeInstead()}>
            Let the model continue the text instead
          </button>
        )}
      </div>
    );
  if (message.finish === "length") return <p class="note">Cut off: the answer may not be longer (“Most tokens” in the settings).</p>;
  if (message.finish === "stopped") return <p class="note">Stopped.</p>;
  return null;
}

function Editor({ content, onSend, onCancel }: { content: string; onSend: (content: string) => void; onCancel: () => void }) {
  const ref = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    const area = ref.current!;
    fitHeight(area);
    area.focus();
    area.setSelectionRange(area.value.length, area.value.length);
  }, []);
  return (
    <div class="editor">
      <textarea
        ref={ref}
        aria-label="Edited message"
        defaultValue={content}
        onInput={(event) => fitHeight(event.currentTarget)}
        onKeyDown={(event) => {
          if (event.key === "Escape") onCancel();
          if (sends(event)) onSend(event.currentTarget.value);
        }}
      />
      <footer>
        <button type="button" class="plain" onClick={onCancel}>
          Cancel
        </button>
        <button type="button" class="primary" onClick={() => onSend(ref.current!.value)}>
          Send
        </button>
      </footer>
    </div>
  );
}

/** Enter sends; with Shift it ends a line; while an input method is composing, it chooses a word. */
function sends(event: KeyboardEvent): boolean {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return false;
  event.preventDefault();
  return true;
}

function Composer({ app, id, streaming }: { app: App; id: string; streaming: boolean }) {
  const ref = useRef<HTMLTextAreaElement>(null);
  const [empty, setEmpty] = useState(true);
  useEffect(() => {
    // On a phone, the focus would open the keyboard.
    if (window.matchMedia("(hover: hover)").matches) ref.current!.focus();
  }, []);
  const send = () => {
    const area = ref.current!;
    if (streaming || area.value.trim() === "") return;
    app.send(area.value);
    area.value = "";
    setEmpty(true);
    fitHeight(area);
  };
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <textarea
        ref={ref}
        id="message"
        rows={1}
        aria-label="Message"
        placeholder="Message"
        onInput={(event) => {
          fitHeight(event.currentTarget);
          setEmpty(event.currentTarget.value.trim() === "");
        }}
        onKeyDown={(event) => sends(event) && send()}
      />
      {streaming ? (
        <Button icon="stop" label="Stop" kind="primary" onClick={() => app.stop(id)} />
      ) : (
        <Button icon="send" label="Send" kind="primary" disabled={empty} onClick={send} />
      )}
    </form>
  );
}

/** Follows an answer that grows, unless the reader has scrolled away from the end. */
function useScrolling(conversation: Conversation) {
  const ref = useRef<HTMLDivElement>(null);
  const follows = useRef(true);
  const [away, setAway] = useState(false);
  const toEnd = () => {
    const area = ref.current!;
    area.scrollTop = area.scrollHeight;
    follows.current = true;
    setAway(false);
  };
  const asked = conversation.messages.filter((message) => message.role === "user").length;
  useLayoutEffect(toEnd, [conversation.id, asked]);
  useLayoutEffect(() => {
    if (follows.current) toEnd();
  }, [conversation]);
  const onScroll = () => {
    const area = ref.current!;
    follows.current = area.scrollHeight - area.scrollTop - area.clientHeight < 40;
    setAway(!follows.current);
  };
  return { ref, onScroll, away, toEnd };
}
