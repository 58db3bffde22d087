// Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs ONNX files in onnxruntime-web: node run_onnx.mjs PACKAGE JOB.json...
// A job names files of raw numbers with shapes and types; so does its answer,
// a line each.
import fs from "node:fs";
import path from "node:path";
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
const [packageFolder, ...jobPaths] = process.argv.slice(2);
const ort = require(path.resolve(packageFolder));
ort.env.logLevel = "error";
ort.env.wasm.numThreads = 1;

const arrays = { float32: Float32Array, int64: BigInt64Array, int32: Int32Array, bool: Uint8Array };

function readTensor(input) {
  const bytes = fs.readFileSync(input.file);
  const buffer = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
  return new ort.Tensor(input.type, new arrays[input.type](buffer), input.shape);
}

async function run(jobPath) {
  const job = JSON.parse(fs.readFileSync(jobPath, "utf8"));
  const feeds = {};
  for (const [name, input] of Object.entries(job.inputs))
    feeds[name] = readTensor(input);
  const options = { executionProviders: ["wasm"] };
  if (fs.existsSync(job.model + ".data"))
    options.externalData = [{ path: path.basename(job.model) + ".data", data: fs.readFileSync(job.model + ".data") }];
  const session = await ort.InferenceSession.create(fs.readFileSync(job.model), options);
  const outputs = {};
  for (const [name, tensor] of Object.entries(await session.run(feeds))) {
    const file = `${jobPath}.${Object.keys(outputs).length}.bin`;
    fs.writeFileSync(file, Buffer.from(tensor.data.buffer, tensor.data.byteOffset, tensor.data.byteLength));
    outputs[name] = { file, shape: tensor.dims, type: tensor.type };
  }
  await session.release();
  return { outputs };
}

for (const jobPath of jobPaths)
  console.log(JSON.stringify(await run(jobPath).catch((error) => ({ error: String(error) }))));
