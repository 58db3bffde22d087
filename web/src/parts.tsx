import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "./hooks";

/** Drawn on a grid of 24 by 24, in lines. */
const icons = {
  menu: "M4 7h16M4 12h16M4 17h16",
  plus: "M12 5v14M5 12h14",
  chat: "M5 5h14a1 1 0 0 1 1 1v9a1 1 0 0 1-1 1h-8l-4 4v-4H5a1 1 0 0 1-1-1V6a1 1 0 0 1 1-1z",
  text: "M5 6h14M5 10h14M5 14h14M5 18h8",
  edit: "M4 20l1-4L16 5l3 3L8 19l-4 1z",
  trash: "M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13M10 11v5M14 11v5",
  copy: "M9 9h10v11H9zM15 9V5H5v11h4",
  check: "M5 12.5l4.5 4.5L19 7.5",
  again: "M19 12a7 7 0 1 1-2-5M19 3v5h-5",
  send: "M12 19V5M6 11l6-6 6 6",
  stop: "M7 7h10v10H7z",
  undo: "M9 7L5 11l4 4M5 11h9a5 5 0 0 1 0 10h-2",
  settings: "M4 7h9M19 7h1M4 17h1M11 17h9M16 4.5v5M8 14.5v5",
  close: "M6 6l12 12M18 6L6 18",
  engine: "M4 4h7v7H4zM13 4h7v7h-7zM4 13h7v7H4zM13 13h7v7h-7z",
  down: "M12 5v14M6 13l6 6 6-6",
};

export type IconName = keyof typeof icons;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
      <path d={icons[name]} />
    </svg>
  );
}

interface ButtonProps {
  icon: IconName;
  /** What the button does: shown beside the icon, or as a hint and to screen readers. */
  label: string;
  shown?: boolean;
  kind?: string;
  disabled?: boolean;
  expanded?: boolean;
  onClick: () => void;
}

export function Button({ icon, label, shown, kind, disabled, expanded, onClick }: ButtonProps) {
  return (
    <button
      type="button"
      class={`button ${shown ? "with-label" : ""} ${kind ?? ""}`}
      aria-label={shown ? undefined : label}
      title={shown ? undefined : label}
      aria-expanded={expanded}
      disabled={disabled}
      onClick={onClick}
    >
      <Icon name={icon} />
      {shown && <span>{label}</span>}
    </button>
  );
}

export function CopyButton({ text, what }: { text: string; what: string }) {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), 1500);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = () => void copyText(text).then(setCopied);
  return <Button icon={copied ? "check" : "copy"} label={copied ? "Copied" : `Copy ${what}`} onClick={copy} />;
}

async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Pages that came without TLS have no clipboard, or may not use it: a selection can be copied everywhere.
    const area = document.createElement("textarea");
    area.value = text;
    const before = document.activeElement;
    (document.querySelector("dialog[open]") ?? document.body).append(area);
    area.select();
    const copied = document.execCommand("copy");
    area.remove();
    if (before instanceof HTMLElement) before.focus();
    return copied;
  }
}

/** A modal dialog: the browser keeps the focus in it; afterwards it is where it was. */
export function Dialog({ title, onClose, children }: { title: string; onClose: () => void; children: ComponentChildren }) {
  const ref = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const dialog = ref.current!;
    const before = document.activeElement;
    dialog.showModal();
    return () => {
      dialog.close();
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={ref}
      aria-labelledby="dialog-title"
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => event.target === ref.current && onClose()}
    >
      <div class="dialog-body">
        <header>
          <h2 id="dialog-title">{title}</h2>
          <Button icon="close" label="Close" onClick={onClose} />
        </header>
        {children}
      </div>
    </dialog>
  );
}

/** Makes a field as high as its text, up to the limit of its style sheet. */
export function fitHeight(area: HTMLTextAreaElement | null): void {
  if (!area) return;
  area.style.height = "auto";
  area.style.height = `${area.scrollHeight + 2}px`;
}
