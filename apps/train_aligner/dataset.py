# Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
"""Clips as the library's own extractor wrote them, and random training windows made from them.

A feature file (extract_features) holds, for one face of one clip: crops [T, 64, 96], lip geometry
[T, 6], validity [T], picture_offset_ms [T], and log-mel frames of which frame 0 is centred 2 s before
tick 0. So the sound of tick i is at mel frame LEAD + 4 i, give or take the lag of the clip.

Lags count 10 ms frames; positive means that the sound comes after its picture.
"""

import csv
import dataclasses
import hashlib
import pathlib

import numpy as np
import torch
import torch.nn.functional as F
from safetensors.numpy import load_file

from model import Config

LEAD = 200          # mel frames before tick 0
SILENCE = np.float32(np.log(1e-8))
# Sources whose sound does not belong to the lips by design, or whose mouths are made by a network.
EXCLUDED_SOURCES = ("mcgurk", "McGurk", "LipReadingQuiz")


@dataclasses.dataclass
class Clip:
    name: str
    folder: str
    source: str        # where it came from: clips of one source share a constant lag
    person: str
    crops: np.ndarray  # uint8 [T, h, w], pooled
    lips: np.ndarray
    valid: np.ndarray
    picture_offset: np.ndarray  # [T] in 10 ms frames
    mel: np.ndarray
    mel_valid: np.ndarray
    speech: np.ndarray
    lag: float = 0.0   # of the clip, relative to GRID
    usable: bool = True
    held_out: bool = False

    @property
    def ticks(self):
        return len(self.crops)


def person_is_held_out(person, share=0.12):
    return int(hashlib.sha256(person.encode()).hexdigest()[:8], 16) / 2**32 < share


def person_is_among(person, share):
    """True for `share` of all people; who is among a half is also among three quarters."""
    return int(hashlib.sha256(person.encode()).hexdigest()[8:16], 16) / 2**32 < share


def pool(crops, size):
    """uint8 [T, h, w] -> uint8 means over size x size squares, rounded."""
    T, h, w = crops.shape
    return np.round(crops.reshape(T, h // size, size, w // size, size).mean((2, 4))).astype(np.uint8)


def load_clips(features, table, picture_pool, min_ticks=20):
    """Clips listed in the TSV `table` whose feature files exist in `features`, pictures pooled."""
    clips = []
    with open(table) as lines:
        rows = list(csv.DictReader(lines, delimiter="\t"))
    for row in rows:
        name = row.get("clip") or row["path"]
        path = pathlib.Path(features) / (name.replace("/", "__") + ".safetensors")
        if not path.exists():
            continue
        data = load_file(path)
        parts = name.split("/")
        folder = parts[1] if len(parts) > 2 else "made"
        source = f"{folder}:{row.get('source') or 'made'}"
        person = f"{folder}:{row.get('speaker') or row.get('voice') or parts[-1]}"
        if len(data["crops"]) < min_ticks or any(word in source for word in EXCLUDED_SOURCES):
            continue
        clips.append(Clip(
            name=name, folder=folder, source=source, person=person,
            crops=pool(data["crops"], picture_pool), lips=data["geometry"].astype(np.float32),
            valid=data["valid"].astype(bool),
            picture_offset=data["picture_offset_ms"].astype(np.float32) / 10,
            mel=data["mel"].astype(np.float32), mel_valid=data["mel_valid"].astype(bool),
            speech=data["speech"].astype(bool)))
    return clips


def held_out_clips(features, tables, lags):
    """The clips of people set aside that are long enough to judge, with the lags that a run has found."""
    chosen = []
    for folder, table in zip(features, tables):
        for clip in load_clips(folder, table, Config().picture_pool):
            clip.lag, clip.usable = lags.get(clip.name, (0.0, False))
            if clip.folder != "lrwar" and person_is_held_out(clip.person) and clip.usable and clip.ticks >= 25:
                chosen.append(clip)
    return chosen


# How often a folder is drawn; inside it every person is as likely as any other.
FOLDER_SHARE = {"grid_s1": 0.10, "grid_more": 0.18, "lrwar": 0.20, "web2": 0.34, "webcam_tr": 0.05,
                "syllables": 0.02, "made": 0.11}


class Sampler:
    """Draws clips balanced over people, not over minutes."""

    def __init__(self, clips, rng, min_ticks):
        self.rng = rng
        tree = {}
        for clip in clips:
            if clip.usable and not clip.held_out and clip.ticks >= min_ticks:
                tree.setdefault(clip.folder, {}).setdefault(clip.person, []).append(clip)
        self.folders = [f for f in tree if f in FOLDER_SHARE]
        share = np.array([FOLDER_SHARE[f] for f in self.folders])
        self.share = share / share.sum()
        self.people = {f: list(tree[f].values()) for f in self.folders}

    def draw(self, folder=None):
        folder = folder or self.folders[self.rng.choice(len(self.folders), p=self.share)]
        people = self.people[folder]
        clips = people[self.rng.integers(len(people))]
        return clips[self.rng.integers(len(clips))]


def stretched(clip, rate):
    """The clip played `rate` times as fast, pictures and sound together."""
    ticks = max(1, int((clip.ticks - 1) / rate) + 1)
    at = np.arange(ticks) * rate
    picture = np.round(at).astype(int)
    frame = LEAD + (np.arange(int((len(clip.mel) - 1 - LEAD) / rate) + 1 + LEAD) - LEAD) * rate
    frame = np.clip(frame, 0, len(clip.mel) - 1)
    low = frame.astype(int)
    high = np.minimum(low + 1, len(clip.mel) - 1)
    part = (frame - low).astype(np.float32)[:, None]
    return dataclasses.replace(
        clip, crops=clip.crops[picture], lips=clip.lips[picture], valid=clip.valid[picture],
        picture_offset=((clip.picture_offset[picture] + 4 * (picture - at)) / rate).astype(np.float32),
        mel=clip.mel[low] * (1 - part) + clip.mel[high] * part,
        mel_valid=clip.mel_valid[low] & clip.mel_valid[high],
        speech=clip.speech[np.round(frame).astype(int)], lag=clip.lag / rate)


def cut_mel(clip, begin, length, filler):
    """Frames begin .. begin + length of the clip's mel; what was not recorded comes from filler."""
    out = filler.copy()
    index = np.arange(begin, begin + length)
    inside = (index >= 0) & (index < len(clip.mel))
    inside[inside] = clip.mel_valid[index[inside]]
    out[inside] = clip.mel[index[inside]]
    return out, inside


def make_window(sampler, rng, ticks, width, context, change_tempo=True, like_voices=0.0):
    """One training example of `ticks` pictures and the sound around them, as a dict of arrays.

    Where the sound does not belong to the pictures, a share `like_voices` is of the same folder, and so of the
    same kind of talk: the same sentences in GRID, the same news.
    """
    clip = sampler.draw()
    other = sampler.draw()
    if change_tempo and rng.random() < 0.5:
        clip = stretched(clip, float(np.exp(rng.uniform(-0.2, 0.2))))
    t0 = int(rng.integers(0, max(1, clip.ticks - ticks + 1)))
    n = min(ticks, clip.ticks - t0)
    length = 4 * ticks + 2 * (width + context)
    shift = int(rng.integers(-width + 3, width - 2))
    filler = np.full((length, clip.mel.shape[1]), SILENCE, np.float32)
    if rng.random() < 0.75:
        source = clip if rng.random() < 0.2 else other
        recorded = source.mel[source.mel_valid]
        if len(recorded):
            filler[:] = np.resize(np.roll(recorded, rng.integers(len(recorded)), 0), filler.shape)
    kind = rng.random()
    if kind < 0.2 and like_voices and rng.random() < like_voices:
        other = sampler.draw(clip.folder)
    mismatched = kind < 0.2 and other.name != clip.name
    silent = 0.2 <= kind < 0.23
    base = LEAD + 4 * t0 + int(round(clip.lag)) - (context + width) - shift
    mel, inside = cut_mel(clip, base, length, filler)
    index = np.clip(np.arange(base, base + length), 0, len(clip.mel) - 1)
    speech = clip.speech[index] & inside
    if mismatched or silent:
        voice = other if mismatched else None
        mel = filler * 0 + SILENCE
        if voice is not None:
            recorded = voice.mel[voice.mel_valid]
            if len(recorded):
                mel[:] = np.resize(np.roll(recorded, rng.integers(len(recorded)), 0), mel.shape)
        speech[:] = False
    elif rng.random() < 0.2:
        # A file whose streams were cut together: sound exists only while pictures do.
        keep = slice(context + width, context + width + 4 * n)
        cut = np.full_like(mel, SILENCE)
        cut[keep] = mel[keep]
        mel = cut
    pad = ticks - n
    here = slice(t0, t0 + n)
    valid = np.pad(clip.valid[here], (0, pad))
    at = context + width + shift + 4 * np.arange(ticks)
    speaking = np.array([speech[max(0, a - 8):a + 9].mean() > 0.4 for a in at], np.float32)
    late = clip.picture_offset[here]
    return {
        "crops": np.pad(clip.crops[here], ((0, pad), (0, 0), (0, 0))),
        "lips": np.pad(clip.lips[here], ((0, pad), (0, 0))),
        "valid": valid, "mel": mel, "speaking": speaking,
        "lag": np.float32(width + shift + (clip.lag - round(clip.lag)) + late.mean()),
        "matched": np.bool_(not (mismatched or silent)),
    }


def collate(windows):
    return {key: torch.from_numpy(np.stack([w[key] for w in windows])) for key in windows[0]}


def augment_pictures(crops, rng, warp=True, shade=True):
    """uint8 [B, T, h, w] -> float in 0..1 with per-clip geometric and photometric changes."""
    B, T, h, w = crops.shape
    x = crops.float() / 255
    g = torch.Generator().manual_seed(int(rng.integers(2**31)))

    def uniform(low, high, *shape):
        return torch.rand(*shape, generator=g) * (high - low) + low

    angle = uniform(-0.12, 0.12, B)
    scale = torch.exp(uniform(-0.14, 0.14, B))
    flip = torch.where(torch.rand(B, generator=g) < 0.5, -1.0, 1.0)
    aspect = h / w
    theta = torch.zeros(B, 2, 3)
    theta[:, 0, 0] = flip * scale * torch.cos(angle)
    theta[:, 0, 1] = -scale * torch.sin(angle) * aspect
    theta[:, 1, 0] = flip * scale * torch.sin(angle) / aspect
    theta[:, 1, 1] = scale * torch.cos(angle)
    theta[:, 0, 2] = uniform(-0.08, 0.08, B)
    theta[:, 1, 2] = uniform(-0.1, 0.1, B)
    grid = F.affine_grid(theta, (B, 1, h, w), align_corners=False)
    if warp:  # another face: the same smooth displacement of all pictures of a clip
        move = torch.randn(B, 2, 4, 5, generator=g) * uniform(0, 0.09, B, 1, 1, 1)
        move = F.interpolate(move, (h, w), mode="bicubic", align_corners=True)
        grid = grid + move.permute(0, 2, 3, 1)
    x = F.grid_sample(x, grid, padding_mode="border", align_corners=False)
    gamma = torch.exp(uniform(-0.35, 0.35, B, 1, 1, 1))
    x = x.clamp(1e-3, 1) ** gamma * uniform(0.6, 1.15, B, 1, 1, 1)
    if shade:  # beards, lips and skin of other tones, light from elsewhere: smooth, the same in all pictures of a clip
        tone = torch.randn(B, 1, 4, 5, generator=g) * uniform(0, 0.35, B, 1, 1, 1)
        x = x * torch.exp(F.interpolate(tone, (h, w), mode="bicubic", align_corners=True))
    blurred = torch.rand(B, generator=g) < 0.25
    if blurred.any():
        small = F.avg_pool2d(x[blurred], 2)
        x[blurred] = F.interpolate(small, (h, w), mode="bilinear", align_corners=False)
    x = x + torch.randn(x.shape, generator=g) * uniform(0, 0.02, B, 1, 1, 1)
    for b in torch.nonzero(torch.rand(B, generator=g) < 0.15).flatten().tolist():
        top, left = int(rng.integers(h - h // 3)), int(rng.integers(w - w // 3))
        x[b, :, top:top + h // 3, left:left + w // 3] = float(rng.random())
    for b in torch.nonzero(torch.rand(B, generator=g) < 0.1).flatten().tolist():
        t = int(rng.integers(1, T))
        span = int(rng.integers(1, 4))
        x[b, t:t + span] = x[b, t - 1:t].clone()  # frozen pictures
    return x


def augment_lips(lips, rng):
    """Other proportions, unsteady landmarks, now and then none at all; lips [B, T, G]."""
    B, T, features = lips.shape
    g = torch.Generator().manual_seed(int(rng.integers(2**31)))
    mean, spread = lips.mean(1, keepdim=True), lips.std((0, 1)) + 1e-4
    gain = torch.exp(torch.randn(B, 1, features, generator=g) * 0.2)
    offset = torch.randn(B, 1, features, generator=g) * 0.4 * spread
    noise = torch.randn(lips.shape, generator=g) * torch.rand(B, 1, 1, generator=g) * 0.3 * spread
    seen = (torch.rand(B, 1, 1, generator=g) > 0.1).float()
    return (lips - mean) * gain * seen + mean + offset + noise


def other_throat(mel, g, share=0.6):
    """Bands stretched and moved alike over a whole example, as by a longer or shorter vocal tract."""
    B, S, bands = mel.shape
    used = (torch.rand(B, 1, generator=g) < share).float()
    stretch = torch.exp((torch.rand(B, 1, generator=g) - 0.5) * 0.3 * used)
    move = (torch.rand(B, 1, generator=g) - 0.5) * 6 * used
    at = (torch.arange(bands) * stretch + move).clamp(0, bands - 1)
    low = at.floor().long().clamp_max(bands - 2)
    part = (at - low)[:, None]
    low = low[:, None].expand(B, S, bands)
    return mel.gather(2, low) * (1 - part) + mel.gather(2, low + 1) * part


def augment_mel(mel, rng, throat=True):
    """Vocal tract, gain, tilt, other voices or noise, smear (reverberation), masks; mel [B, S, bands]."""
    B, S, bands = mel.shape
    g = torch.Generator().manual_seed(int(rng.integers(2**31)))
    floor = float(SILENCE)
    if throat:
        mel = other_throat(mel, g)
    position = torch.linspace(-1, 1, bands)
    tilt = (torch.rand(B, 1, 1, generator=g) - 0.5) * 3 * position
    curve = torch.randn(B, 1, 6, generator=g) * 0.5
    curve = F.interpolate(curve, bands, mode="linear", align_corners=True)
    gain = (torch.rand(B, 1, 1, generator=g) - 0.5) * 6
    x = mel + tilt + curve + gain
    smear = torch.nonzero(torch.rand(B, generator=g) < 0.2).flatten()
    if len(smear):
        length = 30
        decay = torch.exp(-torch.arange(length) / float(rng.uniform(3, 12)))
        decay[1:] *= float(rng.uniform(0.1, 0.5))
        power = F.pad(x[smear].exp().transpose(1, 2), (length - 1, 0))
        kernel = decay.flip(0).view(1, 1, -1)
        power = F.conv1d(power.flatten(0, 1)[:, None], kernel).view(len(smear), bands, S)
        x[smear] = power.transpose(1, 2).clamp_min(1e-8).log()
    kind = torch.rand(B, generator=g)
    snr = torch.rand(B, 1, 1, generator=g) * 28  # dB
    level = x.exp().mean((1, 2), keepdim=True)
    voices = x.roll(1, 0).roll(int(rng.integers(1, S)), 1)
    voices = voices.exp() / voices.exp().mean((1, 2), keepdim=True)
    shape = F.interpolate(torch.randn(B, 1, 5, generator=g), bands, mode="linear",
                          align_corners=True)
    noise = (shape + torch.randn(x.shape, generator=g) * 0.6).exp()
    noise = noise / noise.mean((1, 2), keepdim=True)
    added = torch.where((kind < 0.3)[:, None, None], voices, noise)
    used = (kind < 0.6)[:, None, None].float()
    power = x.exp() + used * added * level * torch.pow(10, -snr / 10)
    x = power.clamp_min(1e-8).log()
    for b in torch.nonzero(torch.rand(B, generator=g) < 0.3).flatten().tolist():
        low = int(rng.integers(bands - 16))
        x[b, :, low:low + int(rng.integers(4, 16))] = floor
    for b in torch.nonzero(torch.rand(B, generator=g) < 0.15).flatten().tolist():
        x[b, :, int(rng.integers(30, 60)):] = floor  # band limit of a telephone or a codec
    return x.clamp_min(floor)
