import { render } from "preact";
import { App } from "./app";
import { Chat } from "./chat";
import { KeyDialog, SettingsDialog } from "./dialogs";
import { EnginePage } from "./engine/page";
import { useEffect, useObservable, useState } from "./hooks";
import { Button } from "./parts";
import { Sidebar } from "./sidebar";
import { TextPage } from "./textpage";

function Page({ app }: { app: App }) {
  useObservable(app);
  const [menuOpen, setMenuOpen] = useState(false);
  const [settingsOpen, setSettingsOpen] = useState(false);
  const { current, view } = app;
  const title = view === "engine" ? "Engine" : current.title;
  useEffect(() => {
    document.title = `${title} – LLMIR`;
  }, [title]);
  useEffect(() => {
    if (!menuOpen) return;
    document.querySelector<HTMLElement>("#sidebar button")?.focus();
    const close = (event: KeyboardEvent) => event.key === "Escape" && setMenuOpen(false);
    window.addEventListener("keydown", close);
    return () => {
      window.removeEventListener("keydown", close);
      document.querySelector<HTMLElement>(".bar .menu")?.focus();
    };
  }, [menuOpen]);
  return (
    <div class={menuOpen ? "page menu-open" : "page"}>
      <a class="skip" href="#message">
        Skip to the message
      </a>
      <Sidebar app={app} onChoose={() => setMenuOpen(false)} />
      <div class="shade" onClick={() => setMenuOpen(false)} />
      <main inert={menuOpen}>
        <header class="bar">
          <Button icon="menu" label="Conversations" kind="menu" expanded={menuOpen} onClick={() => setMenuOpen(true)} />
          <h1>{title}</h1>
          {view === "conversation" && <Button icon="settings" label="Settings" onClick={() => setSettingsOpen(true)} />}
        </header>
        {app.trouble && (
          <div class="trouble" role="alert">
            <p>{app.trouble}</p>
            <button type="button" class="plain" onClick={() => void app.loadModels()}>
              Try again
            </button>
          </div>
        )}
        {view === "engine" ? (
          <EnginePage client={app.client} />
        ) : current.kind === "chat" ? (
          <Chat app={app} conversation={current} key={current.id} />
        ) : (
          <TextPage app={app} conversation={current} />
        )}
      </main>
      <div class="hidden" aria-live="polite" aria-atomic="false">
        {app.announcements.map(({ id, text }) => (
          <p key={id}>{text}</p>
        ))}
      </div>
      {settingsOpen && <SettingsDialog app={app} onClose={() => setSettingsOpen(false)} />}
      {app.keyWanted && <KeyDialog app={app} />}
    </div>
  );
}

render(<Page app={new App()} />, document.getElementById("root")!);
