import type { App } from "./app";
import type { Conversation } from "./conversations";
import { useEffect, useRef, useState } from "./hooks";
import { Button, Dialog, Icon } from "./parts";

export function Sidebar({ app, onChoose }: { app: App; onChoose: () => void }) {
  const [removing, setRemoving] = useState<Conversation>();
  return (
    <nav class="sidebar" id="sidebar" aria-label="Conversations">
      <div class="brand">LLMIR</div>
      <ModelName app={app} />
      <div class="new">
        <Button icon="plus" label="New chat" shown onClick={() => (app.start("chat"), onChoose())} />
        <Button icon="text" label="New text" shown onClick={() => (app.start("text"), onChoose())} />
      </div>
      <ul class="conversations">
        {app.conversations.map((each) => (
          <Row key={each.id} app={app} conversation={each} onChoose={onChoose} onRemove={() => setRemoving(each)} />
        ))}
      </ul>
      {app.conversations.length === 0 && <p class="faint">Conversations are kept in this browser.</p>}
      <button
        type="button"
        class="row engine-link"
        aria-current={app.view === "engine" ? "page" : undefined}
        onClick={() => (app.show("engine"), onChoose())}
      >
        <Icon name="engine" />
        <span>Engine</span>
      </button>
      {removing && (
        <Dialog title="Delete conversation" onClose={() => setRemoving(undefined)}>
          <p>
            “{removing.title}” is deleted from this browser. This cannot be undone.
          </p>
          <footer>
            <button type="button" class="plain" onClick={() => setRemoving(undefined)}>
              Cancel
            </button>
            <button
              type="button"
              class="danger"
              onClick={() => {
                app.remove(removing.id);
                setRemoving(undefined);
              }}
            >
              Delete
            </button>
          </footer>
        </Dialog>
      )}
    </nav>
  );
}

function ModelName({ app }: { app: App }) {
  if (app.models.length <= 1)
    return (
      <div class="model" title={app.model}>
        {app.model || "no model"}
      </div>
    );
  return (
    <select class="model" aria-label="Model" value={app.model} onChange={(event) => app.chooseModel(event.currentTarget.value)}>
      {app.models.map((model) => (
        <option key={model}>{model}</option>
      ))}
    </select>
  );
}

interface RowProps {
  app: App;
  conversation: Conversation;
  onChoose: () => void;
  onRemove: () => void;
}

function Row({ app, conversation, onChoose, onRemove }: RowProps) {
  const { id, title, kind } = conversation;
  const [renaming, setRenaming] = useState(false);
  const open = app.view === "conversation" && app.current.id === id;
  if (renaming)
    return (
      <li>
        <RenameField
          title={title}
          onDone={(changed) => {
            if (changed !== undefined) app.rename(id, changed);
            setRenaming(false);
          }}
        />
      </li>
    );
  return (
    <li class={open ? "open" : undefined}>
      <button
        type="button"
        class="row"
        aria-current={open ? "page" : undefined}
        onClick={() => (app.select(id), onChoose())}
        onDblClick={() => setRenaming(true)}
      >
        <Icon name={kind === "chat" ? "chat" : "text"} />
        <span>{title}</span>
        {app.isStreaming(id) && <span class="busy" role="img" aria-label="answering" />}
      </button>
      <Button icon="edit" label={`Rename “${title}”`} onClick={() => setRenaming(true)} />
      <Button icon="trash" label={`Delete “${title}”`} onClick={onRemove} />
    </li>
  );
}

function RenameField({ title, onDone }: { title: string; onDone: (title: string | undefined) => void }) {
  const ref = useRef<HTMLInputElement>(null);
  useEffect(() => ref.current!.select(), []);
  return (
    <input
      ref={ref}
      class="rename"
      aria-label="Title"
      defaultValue={title}
      maxLength={200}
      onBlur={(event) => onDone(event.currentTarget.value)}
      onKeyDown={(event) => {
        if (event.key === "Enter" && !event.isComposing) event.currentTarget.blur();
        if (event.key === "Escape") onDone(undefined);
      }}
    />
  );
}
