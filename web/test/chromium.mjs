import { existsSync } from "node:fs";
import { chromium } from "playwright-core";

/** Starts the system's Chromium; LLMIR_CHROMIUM names another program. */
export async function launch() {
  const program = process.env.LLMIR_CHROMIUM ?? "/usr/bin/chromium";
  if (!existsSync(program)) throw new Error(`${program} was not found: install Debian's package chromium.`);
  // Without the sandbox: tests run as root, and in containers. The pages are the test's own.
  return chromium.launch({ executablePath: program, args: ["--no-sandbox", "--disable-background-networking"] });
}
