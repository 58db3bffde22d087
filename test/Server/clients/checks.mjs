// Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the clients have in common: node CLIENT.mjs http://127.0.0.1:PORT/v1 KEY [EXPECTED]. Each prints one line per
// check, "ok   NAME" or "FAIL NAME: …", and exits with 1 if one fails.

import { isDeepStrictEqual } from 'node:util';

export const [baseURL, apiKey] = process.argv.slice(2);
/** What the scripted model says, by name of the answer. */
export const expected = JSON.parse(process.argv[4] ?? '{}');

let failures = 0;

export function check(name, holds, shown) {
  console.log(`${holds ? 'ok  ' : 'FAIL'} ${name}${holds ? '' : ': ' + JSON.stringify(shown)}`);
  failures += holds ? 0 : 1;
}

export function same(name, value, wanted) {
  check(name, isDeepStrictEqual(value, wanted), value);
}

export async function failure(promise) {
  try {
    return await promise;
  } catch (error) {
    return error;
  }
}

export function finish() {
  process.exit(failures ? 1 : 0);
}
