# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ONNX files run by onnxruntime-web, many in one process of node."""

import json
import os
import subprocess

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))


def write_job(folder, name, path, inputs):
    """The file of a job: the model and its inputs {name: array}."""
    job = {"model": path, "inputs": {}}
    for key, array in inputs.items():
        array = np.ascontiguousarray(array)
        file = os.path.join(folder, "%s.input-%d.bin" % (name, len(job["inputs"])))
        array.tofile(file)
        job["inputs"][key] = {"file": file, "shape": np.shape(inputs[key]), "type": str(array.dtype)}
    job_path = os.path.join(folder, name + ".job.json")
    with open(job_path, "w", encoding="utf-8") as stream:
        json.dump(job, stream)
    return job_path


def run_jobs(package, jobs):
    """For each job ({name: array}, "") or (None, the error)."""
    result = subprocess.run(["node", os.path.join(HERE, "run_onnx.mjs"), package] + jobs, stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=600)
    lines = result.stdout.decode().splitlines()
    if result.returncode or len(lines) != len(jobs):
        return [(None, result.stderr.decode()[-2000:])] * len(jobs)
    answers = []
    for line in lines:
        answer = json.loads(line)
        if "error" in answer:
            answers.append((None, answer["error"]))
            continue
        answers.append(({key: np.fromfile(entry["file"], entry["type"]).reshape([int(size) for size in entry["shape"]])
                         for key, entry in answer["outputs"].items()}, ""))
    return answers
