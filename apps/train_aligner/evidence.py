# Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
"""What a network says about a whole clip, and the lag that follows."""

import numpy as np
import torch

import dataset

WIDTH, CONTEXT = 75, 64  # lags searched on either side; audio beyond them that the encoder sees


@torch.no_grad()
def clip_evidence(net, clip, width=WIDTH, audio_of=None, max_ticks=750):
    """Summed logits [T, L] and speaking log-odds [T] of a whole clip, lag 0 at column `width`."""
    n = min(clip.ticks, max_ticks)
    voice = audio_of or clip
    length = 4 * n + 2 * (width + CONTEXT)
    filler = np.full((length, clip.mel.shape[1]), dataset.SILENCE, np.float32)
    mel, _ = dataset.cut_mel(voice, dataset.LEAD - width - CONTEXT, length, filler)
    with torch.autocast("cpu", torch.bfloat16):
        logits, _, speaking = net(
            torch.from_numpy(clip.crops[:n])[None].float() / 255,
            torch.from_numpy(clip.lips[:n])[None], torch.from_numpy(clip.valid[:n])[None],
            torch.from_numpy(mel)[None], torch.tensor([width + CONTEXT]), width)
    return logits[0].sum(1).numpy() * clip.valid[:n, None], speaking[0].numpy()


def peak(summed):
    """Sub-frame position of the maximum of [L]."""
    k = int(summed.argmax())
    if 0 < k < len(summed) - 1:
        a, b, c = summed[k - 1:k + 2]
        return k + 0.5 * (a - c) / max(a - 2 * b + c, -1e9) if a - 2 * b + c < 0 else float(k)
    return float(k)
