#!/usr/bin/env python3
# Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE.TXT for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How many lines of the readers of untrusted input the fuzzer's own inputs reach.

Runs llmir-replay, built with -fprofile-instr-generate -fcoverage-mapping, on the
seeds of each target and on N damaged ones, the inputs of test/Fuzz/replay.test,
and prints the covered lines for each reader, and with --files for each file.
Fails if a reader has less than the required share.
"""

import argparse
import fnmatch
import os
import subprocess
import sys
import tempfile

REQUIRED = 85.0

# A reader: its targets, and the files whose lines count, as patterns of paths.
# A pattern after '!' takes files out, which do not read that input.
READERS = [
    # GGUFWriter.cpp writes.
    ('GGUF', ['gguf', 'gguf-parts', 'imatrix'], ['lib/Checkpoint/GGUF*.cpp', '!lib/Checkpoint/GGUFWriter.cpp', 'lib/Tokenizer/FromGGUF.cpp',
                        'lib/ChatTemplate/FromGGUF.cpp']),
    ('safetensors and index', ['safetensors', 'safetensors-index'], ['lib/Checkpoint/Safetensors*.cpp']),
    ('config.json', ['config', 'embedding'],
     ['lib/Checkpoint/HuggingFace*.cpp', 'lib/Checkpoint/ConfigChecks.cpp', 'lib/Checkpoint/Gemma4Layers.cpp',
      'lib/Checkpoint/PoolingConfig.cpp', 'lib/Checkpoint/FamilyTraits.cpp']),
    ('quantized weights', ['quantized'], ['lib/Checkpoint/Quantized*.cpp']),
    ('importance matrices', ['imatrix'], ['lib/Convert/ImportanceMatrix.cpp']),
    # ToGGUF.cpp writes; StreamDecoder.cpp decodes what a model answers, and reads no file.
    ('tokenizer files',
     ['tokenizer-json', 'sentencepiece', 'tiktoken', 'tekken', 'words', 'pairs', 'tokenizer-bytes', 'tokenizer-files', 'gguf'],
     ['lib/Tokenizer/*.cpp', '!lib/Tokenizer/ToGGUF.cpp', '!lib/Tokenizer/StreamDecoder.cpp']),
    # FromGGUF.cpp counts as a reader of GGUF, Messages.cpp as one of bodies.
    ('chat templates', ['chat-template', 'template-bytes', 'template-files'],
     ['lib/ChatTemplate/*.cpp', '!lib/ChatTemplate/FromGGUF.cpp', '!lib/ChatTemplate/Messages.cpp']),
    ('JSON', ['json', 'tokenizer-json', 'config'], ['lib/Support/Json.cpp', 'lib/ChatTemplate/OrderedJson.cpp']),
    # Spellings.cpp tells a grammar how calls are written.
    ('answers of models', ['chat-output'], ['lib/ChatOutput/*.cpp', '!lib/ChatOutput/Spellings.cpp']),
    ('artifacts', ['artifact', 'artifact-info', 'code-image'],
     # CodeImage.cpp maps what CodeImageCheck.cpp has checked.
     ['lib/Artifact/Artifact.cpp', 'lib/Artifact/ArtifactInfoJSON.cpp', 'lib/Artifact/CodeImageCheck.cpp',
      'lib/Artifact/CodeNote.cpp']),
    ('the Hub', ['hub-listing', 'hub-head'], ['lib/Hub/Answers.cpp', 'lib/Hub/FileChoice.cpp', 'lib/Hub/HttpHead.cpp']),
    ('schemas, patterns, grammars', ['json-schema', 'regex', 'gbnf'], ['lib/Constraint/*.cpp']),
    ('answers of servers', ['event-stream', 'prompts'],
     ['lib/Http/EventStream.cpp', 'lib/LoadGenerator/AnswerReader.cpp']),
    ('requests: HTTP', ['server-bytes'], ['lib/Server/HttpConnection.cpp', 'lib/Server/HttpTarget.cpp']),
    ('requests: bodies', ['server-body', 'server-embeddings'],
     # ChatPrompt.cpp and ResponseFormat.cpp read nothing.
     ['lib/Server/RequestReader.cpp', 'lib/Server/RequestBody.cpp', 'lib/Server/ConstraintReader.cpp',
      'lib/Server/ChatCompletions.cpp', 'lib/Server/Completions.cpp', 'lib/Server/Responses.cpp',
      'lib/Server/GenerateApi.cpp', 'lib/Server/Embeddings.cpp', 'lib/ChatTemplate/Messages.cpp']),
    ('requests: lines', ['embed-line', 'batch-line'], ['tools/llmir/EmbedRequest.cpp', 'tools/llmir/BatchRequest.cpp']),
]


def tool(name):
    """llvm-profdata or llvm-cov: of Debian's package, or from the path."""
    for candidate in (f'/usr/lib/llvm-22/bin/{name}', f'{name}-22', name):
        try:
            subprocess.run([candidate, '--version'], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
            return candidate
        except (OSError, subprocess.CalledProcessError):
            continue
    sys.exit(f'fuzz_coverage: {name} is missing: install llvm-22.')


def belongs(path, patterns):
    wanted = any(fnmatch.fnmatchcase(path, p) for p in patterns if not p.startswith('!'))
    return wanted and not any(fnmatch.fnmatchcase(path, p[1:]) for p in patterns if p.startswith('!'))


def profile(replay, target, damaged, folder):
    """Runs a target; returns its profile. A crash is a finding and ends the program."""
    raw = os.path.join(folder, target + '.profraw')
    result = subprocess.run([replay, target, str(damaged)], env=dict(os.environ, LLVM_PROFILE_FILE=raw),
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True)
    if result.returncode:
        sys.exit(f'fuzz_coverage: {target}: a finding:\n{result.stdout}')
    return raw


def lines_of(replay, profiles, folder, show):
    """{path: {line: whether it was run}} of the profiles."""
    merged = os.path.join(folder, 'merged.profdata')
    subprocess.run([tool('llvm-profdata'), 'merge', '-sparse', '-o', merged, *profiles], check=True)
    text = subprocess.run([tool('llvm-cov'), 'export', '-format=lcov', '-instr-profile', merged, replay],
                          stdout=subprocess.PIPE, check=True, universal_newlines=True).stdout
    files, current = {}, None
    for line in text.splitlines():
        if line.startswith('SF:'):
            path = os.path.relpath(line[3:], show)
            current = files.setdefault(path, {})
        elif line.startswith('DA:'):
            number, count = line[3:].split(',')[:2]
            current[int(number)] = int(count) > 0
    return files


def ranges(numbers):
    """[1, 2, 3, 7] as '1-3, 7'."""
    parts = []
    for number in numbers:
        if parts and number == parts[-1][1] + 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return ', '.join(str(a) if a == b else f'{a}-{b}' for a, b in parts)


def share(covered, total):
    return 100.0 * covered / total if total else 100.0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('replay', help='llmir-replay, instrumented')
    parser.add_argument('--damaged', type=int, default=10000, help='damaged inputs per target (default: 10000)')
    parser.add_argument('--reader', default='', help='only readers whose name contains this')
    parser.add_argument('--files', action='store_true', help='each file, with the lines that were not run')
    arguments = parser.parse_args()
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    readers = [r for r in READERS if arguments.reader in r[0]]
    failed = []
    with tempfile.TemporaryDirectory() as folder:
        profiles = {}
        print(f'{"reader":30} {"lines":>6} {"covered":>8} {"share":>7}  targets')
        for name, targets, patterns in readers:
            for target in targets:
                if target not in profiles:
                    profiles[target] = profile(arguments.replay, target, arguments.damaged, folder)
            files = lines_of(arguments.replay, [profiles[t] for t in targets], folder, root)
            files = {path: lines for path, lines in files.items() if belongs(path, patterns)}
            total = sum(len(lines) for lines in files.values())
            covered = sum(sum(lines.values()) for lines in files.values())
            print(f'{name:30} {total:6} {covered:8} {share(covered, total):6.1f}%  {" ".join(targets)}', flush=True)
            if share(covered, total) < REQUIRED or not total:
                failed.append(name)
            for path, lines in sorted(files.items()) if arguments.files else []:
                missing = ranges(sorted(n for n, ran in lines.items() if not ran))
                print(f'  {path:40} {len(lines):4} {share(sum(lines.values()), len(lines)):6.1f}%  {missing}')
    if failed:
        sys.exit(f'fuzz_coverage: less than {REQUIRED:.0f} % of the lines: {", ".join(failed)}')


if __name__ == '__main__':
    main()
