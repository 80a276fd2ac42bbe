"""Writes the film through the ffmpeg command."""

import os
import subprocess
import tempfile
import wave

import numpy as np


def write_wav(path, samples, rate_hz):
    pcm = np.clip(np.round(samples * 32767), -32768, 32767).astype("<i2")
    with wave.open(path, "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(rate_hz)
        out.writeframes(pcm.tobytes())


def write_film(path, frames, size, fps, samples, rate_hz, crf):
    """Encodes BGR pictures and mono sound; both begin at time 0. `fps` is a Fraction."""
    width, height = size
    with tempfile.TemporaryDirectory() as folder:
        wav = os.path.join(folder, "sound.wav")
        write_wav(wav, samples, rate_hz)
        command = [
            "ffmpeg", "-nostdin", "-hide_banner", "-loglevel", "error", "-y",
            "-f", "rawvideo", "-pix_fmt", "bgr24", "-s", f"{width}x{height}",
            "-framerate", f"{fps.numerator}/{fps.denominator}", "-i", "pipe:0",
            "-i", wav, "-map", "0:v", "-map", "1:a", "-map_metadata", "-1",
            "-c:v", "libx264", "-preset", "veryfast", "-crf", str(crf),
            "-pix_fmt", "yuv420p", "-threads", "1", "-g", "100",
            "-c:a", "aac", "-b:a", "56k", "-ac", "1",
            "-fflags", "+bitexact", "-flags:v", "+bitexact", "-flags:a", "+bitexact",
            "-movflags", "+faststart", path,
        ]  # fmt: skip
        process = subprocess.Popen(command, stdin=subprocess.PIPE)
        try:
            for frame in frames:
                process.stdin.write(frame.tobytes())
        except BrokenPipeError:
            pass
        finally:
            process.stdin.close()
            code = process.wait()
        if code != 0:
            raise RuntimeError(f"ffmpeg ended with code {code} while writing {path}")
