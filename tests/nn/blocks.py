# Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
"""PyTorch modules of the blocks of av_fusion::nn, ready to train.

Their state dicts, saved with safetensors, are what av_fusion/nn/load_blocks.h reads: the names of
the members below are the names in its table.
"""

import torch
import torch.nn.functional as F
from torch import nn


class FeedForward(nn.Module):
    """x + W2 gelu(W1 LN(x) + b1) + b2."""

    def __init__(self, dim, hidden):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.up = nn.Linear(dim, hidden)
        self.down = nn.Linear(hidden, dim)

    def forward(self, x):
        return x + self.down(F.gelu(self.up(self.norm(x))))


class ConvBlock(nn.Module):
    """x + Linear(gelu(Conv1d(LN(x)))); steps that are not valid count as padding."""

    def __init__(self, dim, kernel, dilation=1):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.conv = nn.Conv1d(dim, dim, kernel, padding=dilation * (kernel // 2), dilation=dilation)
        self.linear = nn.Linear(dim, dim)

    def forward(self, x, valid):
        """x [B, T, D], valid [B, T] bool."""
        h = self.norm(x) * valid[..., None]
        return x + self.linear(F.gelu(self.conv(h.transpose(1, 2)).transpose(1, 2)))


class SelfAttentionBlock(nn.Module):
    """x + SelfAttention(LN(x)), then the feed-forward block."""

    def __init__(self, dim, heads, hidden, width=None):
        super().__init__()
        self.heads, self.width = heads, width
        self.norm = nn.LayerNorm(dim)
        self.attention = nn.MultiheadAttention(dim, heads, batch_first=True)
        self.feed_forward = FeedForward(dim, hidden)

    def forward(self, x, valid):
        steps = torch.arange(x.shape[1], device=x.device)
        lag = steps[:, None] - steps[None, :]
        seen = valid[:, None, :].expand(-1, len(steps), -1)
        if self.width is not None:
            seen = seen & (lag.abs() <= self.width)
        seen = seen | (lag == 0)  # PyTorch gives NaN for a step that sees nothing
        h = self.norm(x)
        h, _ = self.attention(h, h, h, attn_mask=~seen.repeat_interleave(self.heads, 0),
                              need_weights=False)
        return self.feed_forward(x + h)


class ConvTransformerEncoder(nn.Module):
    """Conv blocks, one for each dilation, then self-attention (in a band) and feed-forward."""

    def __init__(self, dim, heads, hidden, kernel=3, dilations=(), attention_width=None):
        super().__init__()
        self.blocks = nn.ModuleList(ConvBlock(dim, kernel, dilation) for dilation in dilations)
        self.attention = SelfAttentionBlock(dim, heads, hidden, attention_width)

    def forward(self, x, lengths=None):
        """x [B, T, D], lengths [B] or None for all -> [B, T, D]."""
        valid = valid_steps(x, lengths)
        for block in self.blocks:
            x = block(x, valid)
        return self.attention(x, valid)


class FusionLayer(nn.Module):
    """x + CrossAttention(LN(x), LN(audio)), then the feed-forward block."""

    def __init__(self, dim, heads, hidden, audio_width, key_norm=True):
        super().__init__()
        self.heads = heads
        self.query_norm = nn.LayerNorm(dim)
        self.key_norm = nn.LayerNorm(audio_width) if key_norm else nn.Identity()
        self.attention = nn.MultiheadAttention(dim, heads, kdim=audio_width, vdim=audio_width,
                                               batch_first=True)
        self.feed_forward = FeedForward(dim, hidden)

    def forward(self, x, audio, seen):
        keys = self.key_norm(audio)
        h, weights = self.attention(self.query_norm(x), keys, keys,
                                    attn_mask=~seen.repeat_interleave(self.heads, 0),
                                    average_attn_weights=False)
        return self.feed_forward(x + h), weights


class CrossAttentionFusion(nn.Module):
    """Video asks, audio answers: `num_layers` layers of cross-attention and feed-forward."""

    def __init__(self, dim, heads, hidden, num_layers, audio_width=None, key_norm=True):
        super().__init__()
        self.layers = nn.ModuleList(FusionLayer(dim, heads, hidden, audio_width or dim, key_norm)
                                    for _ in range(num_layers))

    def forward(self, video, audio, audio_lengths=None, band=None):
        """video [B, Tv, D], audio [B, Ta, A], audio_lengths [B] or None for all.

        band (stride, offset, width) or None: video step i sees audio step j where
        |i * stride + offset - j| <= width. Every step must see something.
        Returns [B, Tv, D] and the attention of each layer [B, H, Tv, Ta].
        """
        queries = torch.arange(video.shape[1], device=video.device)[:, None]
        keys = torch.arange(audio.shape[1], device=audio.device)[None, :]
        seen = valid_steps(audio, audio_lengths)[:, None, :].expand(-1, video.shape[1], -1)
        if band is not None:
            stride, offset, width = band
            seen = seen & ((queries * stride + offset - keys).abs() <= width)
        x, weights = video, []
        for layer in self.layers:
            x, layer_weights = layer(x, audio, seen)
            weights.append(layer_weights)
        return x, weights


def valid_steps(x, lengths):
    """[B, T] bool: the steps before each length; all if there are none."""
    if lengths is None:
        return torch.ones(x.shape[:2], dtype=torch.bool, device=x.device)
    steps = torch.arange(x.shape[1], device=x.device)
    return steps[None, :] < torch.as_tensor(lengths, device=x.device)[:, None]
