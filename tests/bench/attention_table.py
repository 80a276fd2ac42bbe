# Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
"""Speed of av_fusion::MultiHeadAttention beside PyTorch and ONNX Runtime, as a Markdown table.

Usage: python attention_table.py BENCHMARK [--rounds 5] [--threads 1 2] [--output results.json]

BENCHMARK is the program built from attention_benchmark.cc in a Release build. All contestants do the
same work: four projections with biases, attention, for one sequence of the given lengths; in f32,
except for the columns that say bf16. They take turns within each round; the table has medians over
the rounds. The last two columns are shares of what oneDNN's matrix product does at its best: with
them one sees how much faster than the fastest peer anybody could be. Few queries exceed it, because
they do not need all of the textbook's multiplications. Nothing else should run on the machine.
Packages: requirements.txt.
"""

import argparse
import copy
import json
import math
import statistics
import subprocess
import time

import numpy as np
import onnxruntime
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import nn
from torch.nn import functional

# (queries, keys or 0 for self-attention, D, heads), as in attention_benchmark.cc.
LAYOUTS = [(25, 100, 256, 4), (250, 1000, 256, 8), (250, 1000, 512, 8), (1500, 6000, 256, 8),
           (1, 1000, 256, 8), (100, 0, 64, 4), (1000, 0, 512, 8)]
SECONDS = 0.4  # of measuring, for each contestant and round


def name_of(layout):
    queries, keys, dim, heads = layout
    return (f"{queries}x{keys}" if keys else f"self {queries}") + f" {dim}/{heads}"


def flops_of(layout):
    """Multiplications and additions of the textbook formula."""
    queries, keys, dim, _ = layout
    keys = keys or queries
    return 2 * dim * dim * (2 * queries + 2 * keys) + 4 * queries * keys * dim


def median_seconds(call):
    call()
    call()
    times = []
    end = time.perf_counter() + SECONDS
    while len(times) < 3 or time.perf_counter() < end:
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


class Projections(nn.Module):
    """Attention through torch.nn.functional.scaled_dot_product_attention."""

    def __init__(self, dim, heads, is_self):
        super().__init__()
        self.heads = heads
        self.is_self = is_self
        self.qkv = nn.Linear(dim, 3 * dim)
        self.out = nn.Linear(dim, dim)

    def project(self, x, y):
        if self.is_self:
            return self.qkv(x).chunk(3, -1)
        weights, biases = self.qkv.weight.chunk(3), self.qkv.bias.chunk(3)
        return [functional.linear(t, w, b) for t, w, b in zip((x, y, y), weights, biases)]

    def forward(self, x, y):
        query, key, value = (t.unflatten(-1, (self.heads, -1)).transpose(1, 2)
                             for t in self.project(x, y))
        heads = functional.scaled_dot_product_attention(query, key, value)
        return self.out(heads.transpose(1, 2).flatten(2))


def onnx_session(module, with_weights, threads):
    """The same layer as an ONNX graph: the MultiHeadAttention operator, or plain operators where the
    weights are wanted, which the operator does not return."""
    dim, heads = module.out.in_features, module.heads
    initializers, nodes = [], []

    def constant(name, array):
        initializers.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def node(operator, inputs, output, **attributes):
        nodes.append(helper.make_node(operator, inputs, [output], **attributes))
        return output

    keys = "x" if module.is_self else "y"
    parts = []
    for part, source, weight, bias in zip("qkv", ("x", keys, keys), module.qkv.weight.chunk(3),
                                          module.qkv.bias.chunk(3)):
        projected = node("MatMul", [source, constant(part + "w", weight.detach().numpy().T)], part + "m")
        parts.append((projected, constant(part + "b", bias.detach().numpy())))
    if with_weights:
        split, order = constant("split", np.array([1, -1, heads, dim // heads])), (0, 2, 1, 3)
        q, k, v = (node("Transpose", [node("Reshape", [node("Add", [m, b], m + "a"), split], m + "r")],
                        m + "t", perm=order if m[0] != "k" else (0, 2, 3, 1)) for m, b in parts)
        scale = constant("scale", np.float32(1 / math.sqrt(dim // heads)))
        scores = node("MatMul", [node("Mul", [q, scale], "qs"), k], "scores")
        weights = node("Softmax", [scores], "weights", axis=-1)
        joined = node("Transpose", [node("MatMul", [weights, v], "heads")], "joined", perm=order)
        attended = node("Reshape", [joined, constant("join", np.array([1, -1, dim]))], "attended")
    else:
        bias = constant("bias", module.qkv.bias.detach().numpy())
        attended = node("MultiHeadAttention", [m for m, _ in parts] + [bias], "attended",
                        domain="com.microsoft", num_heads=heads)
    mixed = node("MatMul", [attended, constant("ow", module.out.weight.detach().numpy().T)], "mixed")
    node("Add", [mixed, constant("ob", module.out.bias.detach().numpy())], "out")

    def value(name, shape):
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)

    inputs = [value(name, [1, None, dim]) for name in ("x", "y")[:1 if module.is_self else 2]]
    outputs = [value("out", [1, None, dim])]
    if with_weights:
        outputs.append(value("weights", [1, heads, None, None]))
    used = {name for n in nodes for name in n.input}
    graph = helper.make_graph(nodes, "attention", inputs, outputs,
                              [i for i in initializers if i.name in used])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17),
                                                    helper.make_opsetid("com.microsoft", 1)])
    model.ir_version = 9
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    return onnxruntime.InferenceSession(model.SerializeToString(), options,
                                        providers=["CPUExecutionProvider"])


def make_peers(layout, with_weights, threads):
    """Named calls that do the work of `layout`; checks that they agree."""
    queries, keys, dim, heads = layout
    torch.manual_seed(0)
    x = torch.randn(1, queries, dim)
    y = torch.randn(1, keys, dim) if keys else x
    module = Projections(dim, heads, keys == 0).eval()
    mha = nn.MultiheadAttention(dim, heads, batch_first=True).eval()
    mha.in_proj_weight, mha.in_proj_bias, mha.out_proj = (
        module.qkv.weight, module.qkv.bias, nn.modules.linear.NonDynamicallyQuantizableLinear(dim, dim))
    mha.out_proj.weight, mha.out_proj.bias = module.out.weight, module.out.bias
    session = onnx_session(module, with_weights, threads)
    feed = {"x": x.numpy()} if keys == 0 else {"x": x.numpy(), "y": y.numpy()}
    peers = {"nn.MultiheadAttention": lambda: mha(x, y, y, need_weights=with_weights,
                                                  average_attn_weights=False)[0],
             "ONNX Runtime": lambda: session.run(None, feed)[0]}
    if not with_weights:
        peers["SDPA"] = lambda: module(x, y)
        half, x16, y16 = copy.deepcopy(module).bfloat16(), x.bfloat16(), y.bfloat16()
        peers["SDPA bf16"] = lambda: half(x16, y16).float()
    expected = module(x, y).numpy()
    for name, call in peers.items():
        assert np.abs(np.asarray(call()) - expected).max() < (0.1 if "bf16" in name else 1e-4), name
    return peers


def run_ours(program, pattern):
    """Seconds for each benchmark whose name matches."""
    result = subprocess.run([program, "--benchmark_filter=" + pattern, "--benchmark_format=json",
                             f"--benchmark_min_time={SECONDS}"], capture_output=True, check=True)
    found = json.loads(result.stdout)["benchmarks"]
    return {b["name"].removesuffix("/real_time"): b["real_time"] * 1e-9 for b in found}, found


def measure(program, threads, rounds):
    torch.set_num_threads(threads)
    rows = {}
    limits = []
    for _ in range(rounds):
        _, found = run_ours(program, f"^matmul/threads:{threads}/")
        limits.append(found[0]["flops"])
        for layout in LAYOUTS:
            for with_weights in (False, True):
                name = name_of(layout) + (" weights" if with_weights else "")
                row = rows.setdefault((layout, with_weights), {})
                for peer, call in make_peers(layout, with_weights, threads).items():
                    row.setdefault(peer, []).append(median_seconds(call))
                ours, _ = run_ours(program, f"^attention/{name}( bf16)?/threads:{threads}/")
                for key, seconds in ours.items():
                    row.setdefault("bf16" if " bf16/" in key else "ours", []).append(seconds)
    results = []
    for (layout, with_weights), row in rows.items():
        result = {key: statistics.median(times) for key, times in row.items()}
        fastest = min(v for k, v in result.items() if k != "ours" and "bf16" not in k)
        shortest = flops_of(layout) / statistics.median(limits)
        result.update(shape=name_of(layout), weights=with_weights, threads=threads,
                      ratio=fastest / result["ours"], of_limit=shortest / result["ours"],
                      peer_of_limit=shortest / fastest)
        results.append(result)
    return results, statistics.median(limits)


def print_table(results):
    def us(row, key):
        return f"{row[key] * 1e6:,.0f}" if key in row else ""

    columns = {"ours": "ours, us", "SDPA": "SDPA", "nn.MultiheadAttention": "nn.MultiheadAttention",
               "ONNX Runtime": "ONNX Runtime", "bf16": "ours bf16", "SDPA bf16": "SDPA bf16"}
    print("| shape D/heads | threads | weights | " + " | ".join(columns.values()) +
          " | fastest f32 peer / ours | ours of limit | peer of limit |")
    print("| --- " * (6 + len(columns)) + "|")
    for row in results:
        print(f"| {row['shape']} | {row['threads']} | {'yes' if row['weights'] else 'no'} | " +
              " | ".join(us(row, key) for key in columns) +
              f" | {row['ratio']:.2f} | {row['of_limit']:.0%} | {row['peer_of_limit']:.0%} |")
    for label, chosen in (("all", results), ("without weights", [r for r in results if not r["weights"]]),
                          ("with weights", [r for r in results if r["weights"]])):
        ratios = [r["ratio"] for r in chosen]
        print(f"\n{label}: median ratio {statistics.median(ratios):.2f}, least {min(ratios):.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("benchmark")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--output")
    arguments = parser.parse_args()
    print(f"PyTorch {torch.__version__}, ONNX Runtime {onnxruntime.__version__}")
    results, limits = [], {}
    with torch.inference_mode():
        for threads in arguments.threads:
            rows, limits[threads] = measure(arguments.benchmark, threads, arguments.rounds)
            print(f"oneDNN matrix product, {threads} thread(s): {limits[threads] / 1e9:.0f} GFLOP/s")
            results += rows
    print_table(results)
    if arguments.output:
        with open(arguments.output, "w", encoding="utf-8") as file:
            json.dump({"limits": limits, "results": results}, file, indent=1)


if __name__ == "__main__":
    main()
