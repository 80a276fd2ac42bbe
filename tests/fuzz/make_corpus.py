# Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
"""Writes corpus/weights_file: small safetensors files, valid and damaged in every way we know of.

Usage: python make_corpus.py   (needs Python alone; the files are the same every time)

It keeps files named found_*: inputs that the fuzzer found.
"""

import json
import pathlib
import struct

CORPUS = pathlib.Path(__file__).parent / "corpus" / "weights_file"
SIZES = {"BOOL": 1, "U8": 1, "I16": 2, "F16": 2, "BF16": 2, "I32": 4, "F32": 4, "F64": 8, "I64": 8}
ONE = {"F32": b"\x00\x00\x80\x3f", "F16": b"\x00\x3c", "BF16": b"\x80\x3f"}
PACKED = {"in_proj_weight": [6, 2], "in_proj_bias": [6], "out_proj.weight": [2, 2],
          "out_proj.bias": [2]}
OTHER_WIDTHS = {"q_proj_weight": [2, 2], "k_proj_weight": [2, 3], "v_proj_weight": [2, 1],
                "in_proj_bias": [6], "out_proj.weight": [2, 2], "out_proj.bias": [2]}
PLAIN = {"qkv.weight": [6, 2], "qkv.bias": [6], "out.weight": [2, 2], "out.bias": [2]}
SEPARATE = {"query.weight": [2, 2], "query.bias": [2], "key.weight": [2, 2], "key.bias": [2],
            "value.weight": [2, 2], "value.bias": [2], "out.weight": [2, 2], "out.bias": [2]}


def product(shape):
    result = 1
    for extent in shape:
        result *= extent
    return result


def raw(header, data=b"", claimed=None):
    """A file with this header, which claims to have `claimed` bytes."""
    if isinstance(header, str):
        header = header.encode()
    return struct.pack("<Q", len(header) if claimed is None else claimed) + header + data


def valid(shapes, dtype="F32", metadata=None, prefix=""):
    """A file of tensors full of ones."""
    header, data = {}, b""
    if metadata is not None:
        header["__metadata__"] = metadata
    for name, shape in shapes.items():
        size = product(shape) * SIZES[dtype]
        header[prefix + name] = {"dtype": dtype, "shape": shape,
                                 "data_offsets": [len(data), len(data) + size]}
        one = ONE.get(dtype, bytes(SIZES[dtype]))
        data += one * product(shape)
    return raw(json.dumps(header, separators=(",", ":")), data)


def one(dtype='"F32"', shape="[1]", offsets="[0,4]", data=b"1234"):
    """A file with the tensor "w", described by pieces of JSON."""
    return raw(f'{{"w":{{"dtype":{dtype},"shape":{shape},"data_offsets":{offsets}}}}}', data)


def two(first, second, data=b"12345678"):
    """A file with tensors of bytes at these positions."""
    def entry(begin, end):
        return {"dtype": "U8", "shape": [end - begin], "data_offsets": [begin, end]}

    return raw(json.dumps({"a": entry(*first), "b": entry(*second)}), data)


def without(shapes, name):
    return {key: shape for key, shape in shapes.items() if key != name}


def valid_files():
    yield "empty_header", raw("{}")
    yield "packed", valid(PACKED)
    yield "packed_no_bias", valid({k: v for k, v in PACKED.items() if "bias" not in k})
    yield "packed_f16", valid(PACKED, "F16", prefix="attention.")
    yield "other_widths", valid(OTHER_WIDTHS, metadata={"format": "pt"})
    yield "plain_bf16", valid(PLAIN, "BF16")
    yield "separate", valid(SEPARATE, prefix="layers.0.")
    yield "linear", valid({"weight": [3, 2], "bias": [3]})
    yield "layer_norm", valid({"weight": [3], "bias": [3]})
    yield "conv1d", valid({"weight": [2, 2, 3], "bias": [2]})
    yield "conv2d", valid({"weight": [2, 1, 2, 3]})
    yield "bytes", valid({"w": [5]}, "U8")
    yield "integers", valid({"w": [2, 1]}, "I64")
    yield "other_type", valid({"w": [2]}, "F64")
    yield "no_axes", valid({"w": []})
    yield "no_elements", valid({"w": [0, 7], "v": [1]})
    yield "padded_header", raw("{}" + " " * 6)
    yield "escaped_name", raw(r'{"\u00e9\n":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}', b"1")


def damaged_attention():
    yield "missing", valid(without(PACKED, "out_proj.weight"))
    yield "misshapen", valid({**PACKED, "in_proj_weight": [6, 3]})
    yield "misshapen_rank", valid({**OTHER_WIDTHS, "q_proj_weight": []})
    yield "empty_weight", valid({"in_proj_weight": [0, 0], "out_proj.weight": [0, 0]})
    yield "mixed", valid({**PACKED, **PLAIN})
    yield "extra_key", valid({**PACKED, "bias_k": [1, 1, 2], "bias_v": [1, 1, 2]})
    yield "extra", valid({**PACKED, "scale": [1]})
    packed = valid(PACKED)
    yield "not_finite", packed[:-4] + b"\x00\x00\x80\x7f"
    yield "not_a_number", packed[:-4] + b"\x01\x00\xc0\xff"


def damaged_length():
    packed = valid(PACKED)
    yield "no_bytes", b""
    yield "seven_bytes", b"1234567"
    yield "truncated_header", packed[:40]
    yield "truncated_data", packed[:-5]
    yield "longer", packed + b"1"
    yield "claims_less", raw("{}", claimed=1)
    yield "claims_nothing", raw("{}", claimed=0)
    yield "claims_more", raw("{}", claimed=3)
    yield "claims_the_limit", raw("{}", claimed=100_000_000)
    yield "claims_2_63", raw("{}", claimed=1 << 63)
    yield "claims_everything", raw("{}", claimed=(1 << 64) - 1)


def damaged_header():
    yield "not_an_object", raw("[1]")
    yield "not_json", raw('{"a":')
    yield "not_utf8", raw(b'{"\xff":1}')
    yield "deep", raw('{"w":' + "[" * 200)
    yield "twice", raw('{"w":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},'
                       '"w":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}', b"1")
    yield "metadata_number", raw('{"__metadata__":{"a":1}}')
    yield "no_offsets", raw('{"w":{"dtype":"F32","shape":[]}}', b"1234")
    yield "unknown_type", one(dtype='"F31"')


def damaged_layout():
    yield "negative_shape", one(shape="[-1]")
    yield "fractional_shape", one(shape="[1.0]")
    yield "seven_axes", one(shape="[1,1,1,1,1,1,1]")
    yield "shape_overflow", one(shape="[4611686018427387904,4,2]", offsets="[0,8]", data=bytes(8))
    yield "empty_overflow", one(shape="[0,4611686018427387904,4]", offsets="[0,0]", data=b"")
    yield "backwards", one(offsets="[4,0]")
    yield "outside", one(offsets="[4,8]")
    yield "offset_overflow", one(offsets="[18446744073709551612,18446744073709551615]")
    yield "overlap", two((0, 5), (4, 8))
    yield "same_place", two((0, 8), (0, 8))
    yield "gap", two((0, 3), (4, 8))


def main():
    CORPUS.mkdir(parents=True, exist_ok=True)
    for old in CORPUS.iterdir():
        if not old.name.startswith("found_"):
            old.unlink()
    for group in (valid_files, damaged_attention, damaged_length, damaged_header, damaged_layout):
        kind = "valid" if group is valid_files else "bad"
        for name, data in group():
            (CORPUS / f"{kind}_{name}").write_bytes(data)


if __name__ == "__main__":
    main()
