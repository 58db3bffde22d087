import { continuationTokens } from "./answer";
import type { App } from "./app";
import { useState } from "./hooks";
import { Dialog } from "./parts";
import { parseNumber, settings, type Name, type Settings } from "./settings";

const textHint = `of a continuation; ${continuationTokens} if empty`;

export function SettingsDialog({ app, onClose }: { app: App; onClose: () => void }) {
  const { kind, settings: before } = app.current;
  const [system, setSystem] = useState(before.system);
  const [typed, setTyped] = useState(
    () => new Map(settings.map(({ name }) => [name, String(before.numbers[name] ?? "")] as [Name, string])),
  );
  const read = settings.map((setting) => ({ setting, value: parseNumber(setting, typed.get(setting.name)!) }));
  const wrong = read.some(({ value }) => typeof value === "string");
  const save = () => {
    const after: Settings = { system, numbers: {} };
    for (const { setting, value } of read) if (typeof value === "number") after.numbers[setting.name] = value;
    app.changeSettings(after);
    onClose();
  };
  return (
    <Dialog title="Settings" onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (!wrong) save();
        }}
      >
        <p class="faint">For this conversation and new ones. An empty field leaves the choice to the server.</p>
        {kind === "chat" && (
          <label class="field">
            <span>System prompt</span>
            <textarea rows={4} value={system} onInput={(event) => setSystem(event.currentTarget.value)} />
          </label>
        )}
        <div class="numbers">
          {read.map(({ setting, value }) => {
            const hint = `hint-${setting.name}`;
            return (
              <label class="field" key={setting.name}>
                <span>{setting.label}</span>
                <input
                  inputMode="decimal"
                  autocomplete="off"
                  name={setting.name}
                  value={typed.get(setting.name)}
                  aria-invalid={typeof value === "string"}
                  aria-describedby={hint}
                  onInput={(event) => setTyped(new Map(typed).set(setting.name, event.currentTarget.value))}
                />
                <small id={hint} class={typeof value === "string" ? "wrong" : ""}>
                  {typeof value === "string" ? value : kind === "text" && setting.name === "max_tokens" ? textHint : setting.hint}
                </small>
              </label>
            );
          })}
        </div>
        <footer>
          <button type="button" class="plain" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="primary" disabled={wrong}>
            Save
          </button>
        </footer>
      </form>
    </Dialog>
  );
}

export function KeyDialog({ app }: { app: App }) {
  const [key, setKey] = useState("");
  return (
    <Dialog title="The server asks for an API key" onClose={() => app.giveKey(undefined)}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (key.trim() !== "") app.giveKey(key.trim());
        }}
      >
        <p class="error">{app.keyWanted}</p>
        <label class="field">
          <span>API key</span>
          <input
            type="password"
            autocomplete="off"
            spellcheck={false}
            value={key}
            onInput={(event) => setKey(event.currentTarget.value)}
          />
          <small>It is kept until this tab is closed, and sent to this server only.</small>
        </label>
        <footer>
          <button type="button" class="plain" onClick={() => app.giveKey(undefined)}>
            Cancel
          </button>
          <button type="submit" class="primary" disabled={key.trim() === ""}>
            Continue
          </button>
        </footer>
      </form>
    </Dialog>
  );
}
