import { fields, number, text } from "./json";

/** What a conversation sets for its requests. A number that is absent is the server's choice. */
export interface Settings {
  system: string;
  numbers: Partial<Record<Name, number>>;
}

/** A number of the request, as the settings dialog shows it. */
export interface Setting {
  /** The field of the request. */
  name: Name;
  label: string;
  hint: string;
  min: number;
  max: number;
  step: number | "any";
}

export type Name = "temperature" | "top_p" | "top_k" | "min_p" | "max_tokens" | "seed";

export const settings: readonly Setting[] = [
  { name: "temperature", label: "Temperature", hint: "0: always the likeliest token", min: 0, max: 2, step: "any" },
  { name: "top_p", label: "Top p", hint: "the likeliest tokens that make up this share", min: 0, max: 1, step: "any" },
  { name: "top_k", label: "Top k", hint: "this many tokens; −1: all", min: -1, max: 1e6, step: 1 },
  { name: "min_p", label: "Min p", hint: "this share of the likeliest one at least", min: 0, max: 1, step: "any" },
  { name: "max_tokens", label: "Most tokens", hint: "the answer is cut off there", min: 1, max: 1e7, step: 1 },
  { name: "seed", label: "Seed", hint: "the same seed, the same answer", min: 0, max: 2 ** 53 - 1, step: 1 },
];

export const defaultSettings: Settings = { system: "", numbers: {} };

/** The number that a user typed; undefined for an empty field; a sentence if it cannot be sent. */
export function parseNumber(setting: Setting, typed: string): number | undefined | string {
  if (typed.trim() === "") return undefined;
  const value = Number(typed.trim().replace(",", "."));
  const whole = setting.step === 1;
  if (!Number.isFinite(value) || value < setting.min || value > setting.max || (whole && !Number.isInteger(value)))
    return `${setting.label} must be ${whole ? "a whole number" : "a number"} from ${setting.min} to ${setting.max}.`;
  return value;
}

/** Settings that were stored; values that cannot be sent are left out. */
export function readSettings(stored: unknown): Settings {
  const from = fields(stored);
  const numbers: Settings["numbers"] = {};
  for (const setting of settings) {
    const value = number(fields(from["numbers"])[setting.name]);
    if (value !== undefined && typeof parseNumber(setting, String(value)) === "number") numbers[setting.name] = value;
  }
  return { system: text(from["system"]), numbers };
}
