# Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
"""Writes corpus/media_reader: tiny media files of many formats, whole and damaged.

Usage: python make_media_corpus.py   (needs the ffmpeg command; files named found_* are kept)
"""

import pathlib
import subprocess

CORPUS = pathlib.Path(__file__).parent / "corpus" / "media_reader"
PICTURE = "testsrc2=s=32x24:r=25:d=0.24"
SOUND = "sine=f=700:r=8000:d=0.24"
FORMATS = {  # name -> options after the two inputs
    "h264_aac.mp4": "-c:v libx264 -g 3 -bf 2 -c:a aac",
    "fragmented.mp4": "-c:v libx264 -g 3 -c:a aac -movflags frag_keyframe+empty_moov+default_base_moof",
    "faststart.mov": "-c:v mpeg4 -c:a pcm_s16le -movflags faststart",
    "h264_opus.mkv": "-c:v libx264 -g 3 -c:a libopus -ar 48000",
    "ffv1_pcm.mkv": "-c:v ffv1 -pix_fmt yuv420p10le -c:a pcm_f32le",
    "vp8_vorbis.webm": "-c:v libvpx -b:v 20k -c:a libvorbis -ac 2",
    "mpeg2_mp2.ts": "-c:v mpeg2video -c:a mp2 -ar 16000",
    "h264_aac.ts": "-c:v libx264 -g 3 -c:a aac",
    "mpeg1.mpg": "-c:v mpeg1video -c:a mp2 -ar 32000",
    "mpeg4_mp3.avi": "-c:v mpeg4 -c:a libmp3lame -ar 16000",
    "mjpeg_pcm.avi": "-c:v mjpeg -pix_fmt yuvj420p -q:v 20 -c:a pcm_u8",
    "flv1.flv": "-c:v flv1 -c:a libmp3lame -ar 11025",
    "theora.ogv": "-c:v libtheora -c:a libvorbis",
    "grey.nut": "-c:v rawvideo -pix_fmt gray -s 16x12 -c:a pcm_alaw",
    "rgb.mov": "-c:v qtrle -pix_fmt rgb24 -s 16x12 -c:a pcm_s24le",
    "surround.mkv": "-c:v mpeg4 -c:a ac3 -ac 6 -ar 48000 -b:a 64k",
    "interlaced.mkv": "-c:v mpeg2video -flags +ilme+ildct -top 1 -c:a pcm_s16le",
    "sound.wav": "-map 1:a -c:a pcm_s16le",
    "sound.mp3": "-map 1:a -c:a libmp3lame -ar 16000",
    "sound.aac": "-map 1:a -c:a aac",
    "sound.flac": "-map 1:a -c:a flac",
    "picture.gif": "-map 0:v -c:v gif",
    "picture.y4m": "-map 0:v -c:v wrapped_avframe -s 16x12 -t 0.12",
}


def make(name, options):
    command = ["ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", PICTURE, "-f", "lavfi", "-i", SOUND,
               *options.split(), "-threads", "1", "-fflags", "+bitexact", "-flags:v", "+bitexact",
               "-flags:a", "+bitexact", "-map_metadata", "-1", str(CORPUS / name)]
    if "ildct" in options:
        command[command.index("-flags:v"):command.index("-flags:v") + 2] = []
    subprocess.run(command, check=True)
    return (CORPUS / name).read_bytes()


def write(name, data):
    (CORPUS / name).write_bytes(data)


def main():
    CORPUS.mkdir(parents=True, exist_ok=True)
    for path in CORPUS.iterdir():
        if not path.name.startswith("found_"):
            path.unlink()
    files = {name: make(name, options) for name, options in FORMATS.items()}
    mp4, mkv, ts = files["h264_aac.mp4"], files["h264_opus.mkv"], files["h264_aac.ts"]
    write("truncated.mp4", mp4[:len(mp4) * 2 // 3])
    write("truncated.mkv", mkv[:len(mkv) // 2])
    write("starts_late.ts", ts[188 * 7 + 50:])
    write("zeros_within.mkv", mkv[:1500] + bytes(400) + mkv[1900:])
    huge = mp4.replace(b"\x00\x20\x00\x18\x00\x48", b"\x75\x30\x75\x30\x00\x48")  # 30000 x 30000
    assert huge != mp4
    write("huge_picture.mp4", huge)
    write("long_box.mp4", mp4[:4] + b"\xff" + mp4[5:])
    write("nothing", b"")
    write("text", b"This is not a media file.\n" * 3)
    write("playlist.m3u8", b"#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nfile:///etc/hostname\n")
    write("concat", b"ffconcat version 1.0\nfile /etc/hostname\n")
    for path in sorted(CORPUS.iterdir()):
        print(path.stat().st_size, path.name)


if __name__ == "__main__":
    main()
