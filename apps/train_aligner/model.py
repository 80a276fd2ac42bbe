# Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
"""The alignment network in PyTorch, for training only.

Time runs on two grids that share their zero: pictures at 25 Hz (ticks) and log-mel frames at 100 Hz.
Shapes: B batch, T ticks, S audio frames, D token width, H heads, L = 2 * width + 1 lags.

The C++ model (av_fusion/model) computes the same functions from the exported tensors; export.py
folds what only training needs (batch norms) and writes the names that the C++ side reads.
"""

import dataclasses
import math

import torch
import torch.nn.functional as F
from torch import nn


@dataclasses.dataclass
class Config:
    token_dim: int = 128
    num_heads: int = 4
    mouth_height: int = 64
    mouth_width: int = 96
    lip_features: int = 6
    mel_bands: int = 80
    audio_per_video: int = 4
    mean_radius: int = 12          # ticks on either side that make the local mean picture
    stack_radius: int = 2          # pictures stacked on either side
    picture_pool: int = 2          # crops are averaged over squares of this many pixels first
    picture_channels: tuple = (24, 48, 96)
    lip_channels: int = 32
    temporal_kernel: int = 5
    video_blocks: int = 2
    video_attention_width: int = 8
    audio_dilations: tuple = (1, 2, 4, 8)
    audio_attention_width: int = 32
    feed_forward: int = 256


def local_mean(x, valid, radius):
    """Mean over the valid rows within `radius` steps on axis 1. x [B, T, ...], valid [B, T]."""
    flat = x.flatten(2) * valid[..., None]
    window = 2 * radius + 1

    def box(values):  # [B, T, C] -> windowed sums, by cumulative sums
        padded = F.pad(values, (0, 0, radius + 1, radius))
        total = padded.cumsum(1)
        return total[:, window:] - total[:, :-window]

    count = box(valid[..., None].to(flat.dtype)).clamp_min(1)
    return (box(flat) / count).reshape(x.shape)


def pool_crops(crops, pool):
    """[B, T, h, w] -> [B, T, h / pool, w / pool]: means over squares."""
    return F.avg_pool2d(crops, pool) if pool > 1 else crops


def normalise_crops(crops, valid, radius):
    """Pictures [B, T, h, w] in 0..1 to change against the local mean picture, in units of its contrast."""
    mean = local_mean(crops, valid, radius)
    contrast = mean.flatten(2).std(2, unbiased=False) + 0.02
    return (crops - mean) / contrast[..., None, None] * valid[..., None, None]


class BandAttention(nn.Module):
    """Local multi-head self-attention: step i sees steps i - width .. i + width."""

    def __init__(self, dim, heads, width):
        super().__init__()
        self.heads, self.width = heads, width
        self.query = nn.Linear(dim, dim)
        self.key = nn.Linear(dim, dim)
        self.value = nn.Linear(dim, dim)
        self.out = nn.Linear(dim, dim)

    def forward(self, x, valid):
        B, T, D = x.shape
        w, H = self.width, self.heads
        blocks = -(-T // w)
        total = blocks * w

        def heads(t):  # [B, H, blocks, w, d]
            t = F.pad(t, (0, 0, 0, total - T))
            return t.reshape(B, blocks, w, H, D // H).permute(0, 3, 1, 2, 4)

        def neighbours(t):  # [B, H, blocks, 3 w, d]: each block with the one before and after
            t = F.pad(t, (0, 0, 0, 0, 1, 1))
            return torch.cat([t[:, :, :-2], t[:, :, 1:-1], t[:, :, 2:]], 3)

        q = heads(self.query(x))
        k, v = neighbours(heads(self.key(x))), neighbours(heads(self.value(x)))
        present = F.pad(valid, (w, total - T + w)).unfold(1, 3 * w, w)  # [B, blocks, 3 w]
        i = torch.arange(w)[:, None] + w
        j = torch.arange(3 * w)[None, :]
        near = (i - j).abs() <= w
        seen = near[None, None, None] & present[:, None, :, None, :]
        scores = (q @ k.transpose(-1, -2)) / math.sqrt(D // H)
        scores = scores.float().masked_fill(~seen, -1e9)
        weights = torch.softmax(scores, -1).to(v.dtype) * seen
        y = (weights @ v).permute(0, 2, 3, 1, 4).reshape(B, total, D)[:, :T]
        return self.out(y)


class TemporalBlock(nn.Module):
    """x + Linear(gelu(Conv(LN(x))))."""

    def __init__(self, dim, kernel, dilation, dropout):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.conv = nn.Conv1d(dim, dim, kernel, padding=dilation * (kernel // 2), dilation=dilation)
        self.linear = nn.Linear(dim, dim)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, valid):
        h = self.norm(x) * valid[..., None]
        h = F.gelu(self.conv(h.transpose(1, 2)).transpose(1, 2))
        return x + self.dropout(self.linear(h))


class FeedForward(nn.Module):
    """x + Linear(gelu(Linear(LN(x))))."""

    def __init__(self, dim, hidden, dropout):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.up = nn.Linear(dim, hidden)
        self.down = nn.Linear(hidden, dim)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        return x + self.dropout(self.down(F.gelu(self.up(self.norm(x)))))


class AttentionBlock(nn.Module):
    """x + SelfAttention(LN(x)), then the feed-forward layer."""

    def __init__(self, dim, heads, width, hidden, dropout):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.attention = BandAttention(dim, heads, width)
        self.feed_forward = FeedForward(dim, hidden, dropout)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, valid):
        x = x + self.dropout(self.attention(self.norm(x), valid))
        return self.feed_forward(x)


class VideoEncoder(nn.Module):
    def __init__(self, c, dropout):
        super().__init__()
        self.c = c
        channels = (2 * c.stack_radius + 1,) + tuple(c.picture_channels)
        self.convs = nn.ModuleList(
            nn.Conv2d(a, b, 3, stride=2, padding=1, bias=False)
            for a, b in zip(channels, channels[1:]))
        self.norms = nn.ModuleList(nn.BatchNorm2d(b) for b in channels[1:])
        shrink = c.picture_pool * 2 ** len(c.picture_channels)
        pixels = (c.mouth_height // shrink) * (c.mouth_width // shrink)
        self.picture = nn.Linear(pixels * channels[-1], c.token_dim)
        self.register_buffer("lip_mean", torch.zeros(c.lip_features))
        self.register_buffer("lip_scale", torch.ones(c.lip_features))
        self.lips = nn.Linear(2 * c.lip_features, c.lip_channels)
        self.join = nn.Linear(c.token_dim + c.lip_channels, c.token_dim)
        self.blocks = nn.ModuleList(
            TemporalBlock(c.token_dim, c.temporal_kernel, 1, dropout) for _ in range(c.video_blocks))
        self.attention = AttentionBlock(c.token_dim, c.num_heads, c.video_attention_width,
                                        c.feed_forward, dropout)
        self.norm = nn.LayerNorm(c.token_dim)
        self.dropout = nn.Dropout(dropout)

    def forward(self, crops, lips, valid):
        """pooled crops [B, T, h, w] in 0..1, lips [B, T, G], valid [B, T] bool -> tokens [B, T, D]."""
        c = self.c
        x = normalise_crops(crops, valid, c.mean_radius)
        B, T = x.shape[:2]
        r = c.stack_radius
        padded = F.pad(x, (0, 0, 0, 0, r, r))
        x = torch.stack([padded[:, k:k + T] for k in range(2 * r + 1)], 2).flatten(0, 1)
        x = x.contiguous(memory_format=torch.channels_last)
        for conv, norm in zip(self.convs, self.norms):
            x = F.relu(norm(conv(x)))
        x = x.permute(0, 2, 3, 1).flatten(1)  # channels last, as the C++ side stores pictures
        x = self.dropout(self.picture(x)).reshape(B, T, -1)
        g = (lips - self.lip_mean) * self.lip_scale
        g = torch.cat([g, g - local_mean(g, valid, c.mean_radius)], -1)
        x = self.join(torch.cat([F.relu(x), F.gelu(self.lips(g))], -1)) * valid[..., None]
        for block in self.blocks:
            x = block(x, valid)
        return self.norm(self.attention(x, valid))


class AudioEncoder(nn.Module):
    def __init__(self, c, dropout):
        super().__init__()
        self.register_buffer("mel_mean", torch.zeros(c.mel_bands))
        self.register_buffer("mel_scale", torch.ones(c.mel_bands))
        k = c.temporal_kernel
        self.stem = nn.Conv1d(c.mel_bands, c.token_dim, k, padding=k // 2)
        self.blocks = nn.ModuleList(
            TemporalBlock(c.token_dim, k, d, dropout) for d in c.audio_dilations)
        self.attention = AttentionBlock(c.token_dim, c.num_heads, c.audio_attention_width,
                                        c.feed_forward, dropout)
        self.norm = nn.LayerNorm(c.token_dim)

    def forward(self, mel):
        """mel [B, S, bands] natural log power -> tokens [B, S, D]."""
        x = (mel - self.mel_mean) * self.mel_scale
        valid = torch.ones(x.shape[:2], dtype=torch.bool)
        x = F.gelu(self.stem(x.transpose(1, 2)).transpose(1, 2))
        for block in self.blocks:
            x = block(x, valid)
        return self.norm(self.attention(x, valid))


class AlignerNet(nn.Module):
    def __init__(self, config=None, dropout=0.1):
        super().__init__()
        c = self.config = config or Config()
        self.video = VideoEncoder(c, dropout)
        self.audio = AudioEncoder(c, dropout)
        self.query = nn.Linear(c.token_dim, c.token_dim)
        self.key = nn.Linear(c.token_dim, c.token_dim)
        self.value = nn.Linear(c.token_dim, c.token_dim)
        self.out = nn.Linear(c.token_dim, c.token_dim)
        self.feed_forward = FeedForward(c.token_dim, c.feed_forward, dropout)
        self.speaking_norm = nn.LayerNorm(c.token_dim)
        self.speaking = nn.Linear(c.token_dim, 1)

    def fuse(self, video, audio, first_key, width):
        """Cross-attention in a band.

        video [B, T, D]; audio [B, S, D]; audio frame first_key[b] + 4 i + l - width is seen by tick
        i at lag index l. Frames outside the audio are not seen.
        Returns logits [B, T, H, L], weights alike, speaking log-odds [B, T].
        """
        c = self.config
        B, T, D = video.shape
        S = audio.shape[1]
        H, d = c.num_heads, D // c.num_heads
        j = (first_key[:, None, None] + c.audio_per_video * torch.arange(T)[None, :, None]
             + torch.arange(-width, width + 1)[None, None, :])
        seen = ((j >= 0) & (j < S))[:, :, None, :]
        at = j.clamp(0, S - 1)
        q = self.query(video).reshape(B, T, H, d).transpose(1, 2)
        k = self.key(audio).reshape(B, S, H, d).transpose(1, 2)
        v = self.value(audio).reshape(B, S, H, d).transpose(1, 2)
        full = (q @ k.transpose(-1, -2)).float() / math.sqrt(d)  # [B, H, T, S]
        logits = full.gather(3, at[:, None].expand(B, H, T, -1)).transpose(1, 2)
        logits = logits.masked_fill(~seen, -1e9)
        weights = torch.softmax(logits, -1) * seen
        spread = torch.zeros_like(full).scatter_add(
            3, at[:, None].expand(B, H, T, -1), weights.transpose(1, 2))
        attended = (spread.to(v.dtype) @ v).transpose(1, 2).reshape(B, T, D)
        y = video + self.out(attended)
        y = self.speaking_norm(self.feed_forward(y))
        return logits.masked_fill(~seen, 0.0), weights, self.speaking(y).float()[..., 0]

    def forward(self, crops, lips, valid, mel, first_key, width):
        """crops as pool_crops leaves them; the other shapes as in the encoders and in fuse."""
        video = self.video(crops, lips, valid)
        return self.fuse(video, self.audio(mel), first_key, width)
