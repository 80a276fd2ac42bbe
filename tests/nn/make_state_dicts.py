# Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
"""Writes data/*.safetensors: state dicts of PyTorch modules with inputs and PyTorch's results.

Usage: python make_state_dicts.py   (needs torch and safetensors; the results depend on torch's
random numbers, so a new torch version writes new files, which must pass the same tests)

An attention file has the module's state dict under "attention." and "query", "key", "value" and
"out". layers.safetensors has for each layer its state dict under "<layer>." and "<layer>_in" and
"<layer>_out", channels last. Inputs and results are always F32; where weights are stored in half
precision, PyTorch computed in F32 with the rounded weights.
"""

import pathlib

import torch
from safetensors.torch import save_file
from torch import nn

from make_golden import PlainSelfAttention, channels_last, randomise

DATA = pathlib.Path(__file__).parent / "data"
BATCH, QUERIES, KEYS, DIM, HEADS, KEY_WIDTH, VALUE_WIDTH = 2, 5, 7, 12, 3, 10, 6


class SeparateAttention(nn.Module):
    """A Linear each for query, key, value and out."""

    def __init__(self):
        super().__init__()
        self.query = nn.Linear(DIM, DIM)
        self.key = nn.Linear(KEY_WIDTH, DIM)
        self.value = nn.Linear(VALUE_WIDTH, DIM)
        self.out = nn.Linear(DIM, DIM)

    def forward(self, query, key, value):
        def heads(x):
            return x.unflatten(-1, (HEADS, -1)).transpose(1, 2)

        joined = nn.functional.scaled_dot_product_attention(
            heads(self.query(query)), heads(self.key(key)), heads(self.value(value)))
        return self.out(joined.transpose(1, 2).flatten(2)), None


def save(name, tensors):
    save_file({key: value.detach().contiguous() for key, value in tensors.items()},
              DATA / f"{name}.safetensors")


def attention(name, module, key_width=DIM, value_width=DIM, storage=torch.float32):
    """Saves `module`, which is called as torch.nn.MultiheadAttention is or with one sequence."""
    randomise(module).to(storage).float()
    query = torch.randn(BATCH, QUERIES, DIM)
    key, value = torch.randn(BATCH, KEYS, key_width), torch.randn(BATCH, KEYS, value_width)
    if isinstance(module, PlainSelfAttention):
        key = value = query
        out, _ = module(query)
        key, value = key.clone(), value.clone()
    else:
        out, _ = module(query, key, value)
    tensors = {f"attention.{k}": v.to(storage) for k, v in module.state_dict().items()}
    save(f"attention_{name}", {**tensors, "query": query, "key": key, "value": value, "out": out})


def torch_attention(bias=True, **widths):
    return nn.MultiheadAttention(DIM, HEADS, bias=bias, batch_first=True, **widths)


def write_attention():
    widths = {"kdim": KEY_WIDTH, "vdim": VALUE_WIDTH}
    attention("packed", torch_attention())
    attention("packed_no_bias", torch_attention(bias=False))
    attention("packed_f16", torch_attention(), storage=torch.float16)
    attention("kdim_vdim", torch_attention(**widths), KEY_WIDTH, VALUE_WIDTH)
    attention("kdim_vdim_no_bias", torch_attention(bias=False, **widths), KEY_WIDTH, VALUE_WIDTH)
    attention("plain", PlainSelfAttention(DIM, HEADS))
    attention("plain_bf16", PlainSelfAttention(DIM, HEADS), storage=torch.bfloat16)
    attention("separate", SeparateAttention(), KEY_WIDTH, VALUE_WIDTH)


def write_layers():
    linear, no_bias, norm = nn.Linear(6, 9), nn.Linear(6, 9, bias=False), randomise(nn.LayerNorm(8))
    conv1d = nn.Conv1d(3, 5, 3, stride=2, dilation=2, padding=2)
    conv2d = nn.Conv2d(2, 4, (3, 5), stride=2, padding=1, bias=False)
    modules = {"linear": (linear, torch.randn(4, 6), lambda x: nn.GELU()(linear(x))),
               "linear_no_bias": (no_bias, torch.randn(4, 6), no_bias),
               "layer_norm": (norm, torch.randn(4, 8) * 3 + 2, norm),
               "conv1d": (conv1d, torch.randn(2, 3, 11), lambda x: conv1d(x).relu()),
               "conv2d": (conv2d, torch.randn(2, 2, 7, 9), conv2d)}
    tensors = {}
    for name, (module, x, function) in modules.items():
        swap = channels_last if name.startswith("conv") else lambda y: y
        tensors.update({f"{name}.{k}": v for k, v in module.state_dict().items()})
        tensors.update({f"{name}_in": swap(x), f"{name}_out": swap(function(x))})
    save("layers", tensors)


def main():
    DATA.mkdir(exist_ok=True)
    torch.manual_seed(20260102)
    write_attention()
    write_layers()


if __name__ == "__main__":
    main()
