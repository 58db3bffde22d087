// Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs an ONNX file in onnxruntime-web: node run_onnx.mjs PACKAGE JOB.json
// The job names files of raw numbers with shapes and types; so does the answer.
import fs from "node:fs";
import path from "node:path";
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
const [packageFolder, jobPath] = process.argv.slice(2);
const ort = require(path.resolve(packageFolder));
ort.env.logLevel = "error";
ort.env.wasm.numThreads = 1;

const arrays = { float32: Float32Array, int64: BigInt64Array, int32: Int32Array };
const job = JSON.parse(fs.readFileSync(jobPath, "utf8"));
const feeds = {};
for (const [name, input] of Object.entries(job.inputs)) {
  const bytes = fs.readFileSync(input.file);
  const buffer = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
  feeds[name] = new ort.Tensor(input.type, new arrays[input.type](buffer), input.shape);
}
const options = { executionProviders: ["wasm"] };
if (fs.existsSync(job.model + ".data"))
  options.externalData = [{ path: path.basename(job.model) + ".data", data: fs.readFileSync(job.model + ".data") }];
const session = await ort.InferenceSession.create(fs.readFileSync(job.model), options);
const results = await session.run(feeds);
const answer = {};
for (const [name, tensor] of Object.entries(results)) {
  const file = `${jobPath}.${Object.keys(answer).length}.bin`;
  fs.writeFileSync(file, Buffer.from(tensor.data.buffer, tensor.data.byteOffset, tensor.data.byteLength));
  answer[name] = { file, shape: tensor.dims, type: tensor.type };
}
console.log(JSON.stringify(answer));
