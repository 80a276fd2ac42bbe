# Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
"""Writes data/*.golden: inputs, parameters and results of PyTorch layers.

Usage: python make_golden.py   (needs torch and numpy; the results depend on torch's random numbers,
so a new torch version writes new files, which must pass the same tests)

Format: see golden_file.h.
"""

import math
import pathlib

import numpy as np
import torch
from torch import nn

DATA = pathlib.Path(__file__).parent / "data"


class GoldenFile:
    def __init__(self, name):
        self.file = open(DATA / name, "wb")

    def put(self, key, value):
        if value is None:
            return
        array = np.ascontiguousarray(value.detach().numpy().astype("<f4"))
        self.file.write(" ".join([key, *map(str, array.shape)]).encode() + b"\n")
        self.file.write(array.tobytes())


class PlainSelfAttention(nn.Module):
    """One Linear(D, 3 D), heads split, scaled by 1 / sqrt(head_dim), softmax, joined, projected."""

    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim)
        self.out = nn.Linear(dim, dim)

    def forward(self, x):
        batch, length, dim = x.shape
        head_dim = dim // self.heads
        qkv = self.qkv(x).reshape(batch, length, 3, self.heads, head_dim)
        query, key, value = qkv.permute(2, 0, 3, 1, 4)
        weights = (query @ key.transpose(-2, -1) / math.sqrt(head_dim)).softmax(dim=-1)
        joined = (weights @ value).transpose(1, 2).reshape(batch, length, dim)
        return self.out(joined), weights


def randomise(module):
    """PyTorch starts attention biases at zero and norms at one; tests need them to matter."""
    with torch.no_grad():
        for name, parameter in module.named_parameters():
            if parameter.dim() == 1:
                parameter.normal_(std=0.5)
                if isinstance(module, nn.LayerNorm) and name == "weight":
                    parameter.add_(1.0)
    return module


def self_attention(file, case, batch, length, dim, heads, bias=True, lengths=None):
    module = randomise(nn.MultiheadAttention(dim, heads, bias=bias, batch_first=True))
    x = torch.randn(batch, length, dim)
    padding = None
    if lengths is not None:
        padding = torch.arange(length)[None, :] >= torch.tensor(lengths)[:, None]
    out, weights = module(x, x, x, key_padding_mask=padding, average_attn_weights=False)
    put_fused(file, case, x, module.in_proj_weight, module.in_proj_bias, module.out_proj, out,
              weights)


def put_fused(file, case, x, weight, bias, projection, out, weights):
    file.put(f"{case}.in", x)
    file.put(f"{case}.qkv_weight", weight)
    file.put(f"{case}.qkv_bias", bias)
    file.put(f"{case}.out_weight", projection.weight)
    file.put(f"{case}.out_bias", projection.bias)
    file.put(f"{case}.out", out)
    file.put(f"{case}.weights", weights)


def plain_self_attention(file, case, batch, length, dim, heads):
    module = PlainSelfAttention(dim, heads)
    x = torch.randn(batch, length, dim)
    out, weights = module(x)
    put_fused(file, case, x, module.qkv.weight, module.qkv.bias, module.out, out, weights)


def cross_attention(file, case, batch, queries, keys, dim, heads, key_width, value_width, bias,
                    band=None):
    module = randomise(nn.MultiheadAttention(dim, heads, kdim=key_width, vdim=value_width,
                                             bias=bias, batch_first=True))
    query = torch.randn(batch, queries, dim)
    key = torch.randn(batch, keys, key_width)
    value = torch.randn(batch, keys, value_width)
    mask = None
    if band is not None:
        stride, offset, width = band
        lag = torch.arange(queries)[:, None] * stride + offset - torch.arange(keys)[None, :]
        mask = lag.abs() > width
        assert not mask.all(dim=-1).any(), "PyTorch gives NaN for a query that sees no key"
    out, weights = module(query, key, value, attn_mask=mask, average_attn_weights=False)
    put_separate(file, case, module, query, key, value)
    file.put(f"{case}.out", out)
    file.put(f"{case}.weights", weights)


def put_separate(file, case, module, query, key, value):
    file.put(f"{case}.query", query)
    file.put(f"{case}.key", key)
    file.put(f"{case}.value", value)
    file.put(f"{case}.query_weight", module.q_proj_weight)
    file.put(f"{case}.key_weight", module.k_proj_weight)
    file.put(f"{case}.value_weight", module.v_proj_weight)
    if module.in_proj_bias is not None:
        for name, part in zip(("query", "key", "value"), module.in_proj_bias.chunk(3)):
            file.put(f"{case}.{name}_bias", part)
    file.put(f"{case}.out_weight", module.out_proj.weight)
    file.put(f"{case}.out_bias", module.out_proj.bias)


def masked_attention(file, case, batch, queries, keys, dim, heads, width, mask=None, causal=False,
                     rows=None):
    """`mask` is added to the scores: [Tq, Tk] or [B, H, Tq, Tk]. Of the weights, `rows` are kept."""
    module = randomise(nn.MultiheadAttention(dim, heads, kdim=width, vdim=width, batch_first=True))
    query = torch.randn(batch, queries, dim)
    key = torch.randn(batch, keys, width)
    value = torch.randn(batch, keys, width)
    attn_mask = None if mask is None else mask.reshape(-1, queries, keys).squeeze(0)
    if causal:
        attn_mask = nn.Transformer.generate_square_subsequent_mask(queries)
    arguments = dict(attn_mask=attn_mask, is_causal=causal)
    out, _ = module(query, key, value, need_weights=False, **arguments)
    _, weights = module(query, key, value, average_attn_weights=False, **arguments)
    _, mean = module(query, key, value, average_attn_weights=True, **arguments)
    rows = torch.arange(queries) if rows is None else torch.tensor(rows)
    put_separate(file, case, module, query, key, value)
    file.put(f"{case}.additive", mask)
    file.put(f"{case}.out", out)
    file.put(f"{case}.rows", rows)
    file.put(f"{case}.weights", weights[:, :, rows])
    file.put(f"{case}.mean_weights", mean[:, rows])


def random_mask(*shape):
    """Normal numbers, a fifth of them minus infinity; each query sees a key."""
    mask = torch.randn(*shape)
    mask[mask < -0.84] = -math.inf
    assert mask.isfinite().any(dim=-1).all()
    return mask


def layer(file, case, module, x, out):
    file.put(f"{case}.in", x)
    file.put(f"{case}.weight", module.weight)
    file.put(f"{case}.bias", module.bias)
    file.put(f"{case}.out", out)


def channels_last(x):
    return x.movedim(1, -1)


def write_attention():
    file = GoldenFile("attention.golden")
    self_attention(file, "self", batch=2, length=100, dim=64, heads=4)
    self_attention(file, "self_no_bias", batch=1, length=23, dim=30, heads=5, bias=False)
    self_attention(file, "self_lengths", batch=3, length=17, dim=24, heads=3, lengths=[17, 9, 1])
    plain_self_attention(file, "plain", batch=2, length=100, dim=64, heads=4)
    cross_attention(file, "cross", batch=2, queries=13, keys=37, dim=32, heads=4, key_width=20,
                    value_width=28, bias=True)
    cross_attention(file, "cross_no_bias", batch=1, queries=5, keys=71, dim=16, heads=2,
                    key_width=9, value_width=7, bias=False)
    cross_attention(file, "cross_band", batch=2, queries=25, keys=120, dim=32, heads=4,
                    key_width=20, value_width=28, bias=True, band=(4, 10, 21))


def write_masked_attention():
    torch.manual_seed(20260102)
    file = GoldenFile("masked_attention.golden")
    masked_attention(file, "causal", batch=1, queries=31, keys=31, dim=24, heads=3, width=20,
                     causal=True)
    masked_attention(file, "additive", batch=2, queries=13, keys=37, dim=24, heads=3, width=20,
                     mask=random_mask(13, 37))
    masked_attention(file, "additive_heads", batch=2, queries=9, keys=21, dim=24, heads=3, width=20,
                     mask=random_mask(2, 3, 9, 21))
    masked_attention(file, "few", batch=2, queries=2, keys=70, dim=32, heads=4, width=20)
    # Enough queries that keys and values are packed.
    rows = [1, 127, 128, 264]
    masked_attention(file, "long", batch=1, queries=270, keys=300, dim=16, heads=2, width=8,
                     rows=rows)
    masked_attention(file, "long_causal", batch=1, queries=265, keys=265, dim=16, heads=2, width=8,
                     causal=True, rows=rows)


def write_layers():
    file = GoldenFile("layers.golden")
    conv1d = nn.Conv1d(7, 12, 5, stride=2, dilation=3, padding=6)
    x = torch.randn(2, 7, 41)
    layer(file, "conv1d", conv1d, channels_last(x), channels_last(conv1d(x)))
    conv2d = nn.Conv2d(3, 10, (3, 5), stride=2, padding=1)
    x = torch.randn(2, 3, 17, 26)
    layer(file, "conv2d", conv2d, channels_last(x), channels_last(conv2d(x).relu()))
    norm = randomise(nn.LayerNorm(48))
    x = torch.randn(19, 48) * 3 + 2
    layer(file, "layer_norm", norm, x, norm(x))
    linear = nn.Linear(33, 50)
    x = torch.randn(21, 33) * 3
    layer(file, "linear_gelu", linear, x, nn.GELU()(linear(x)))


def main():
    DATA.mkdir(exist_ok=True)
    torch.manual_seed(20260101)
    write_attention()
    write_layers()
    write_masked_attention()


if __name__ == "__main__":
    main()
