# Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
"""Writes corpus/media_reader: tiny media files of many formats, whole and damaged.

Usage: python make_media_corpus.py   (needs the ffmpeg command; files named found_* are kept)
"""

import pathlib
import struct
import subprocess
import zlib

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


# Files of a few bytes that claim huge tables, lists or pictures. tests/media/hostile_test.cc says what must come of them.


def words(*values):
    return struct.pack(f">{len(values)}I", *values)


def box(name, *parts):
    body = b"".join(parts)
    return words(len(body) + 8) + name + body


def full_box(name, *parts, flags=0):
    return box(name, words(flags), *parts)


FILE_TYPE = box(b"ftyp", b"isom", words(512), b"isom")
MATRIX = words(0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000)
MOVIE_HEADER = full_box(b"mvhd", words(0, 0, 1000, 1000, 0x10000, 0x1000000, 0, 0), MATRIX, bytes(24), words(9))


def track(kind=b"vide", codec=b"jpeg", width=64, height=48, stts=words(1, 2, 40), stsc=words(1, 1, 2, 1),
          stsz=words(100, 2), stco=words(1, len(FILE_TYPE) + 8)):
    if kind == b"vide":
        entry = box(codec, bytes(6), b"\0\1", bytes(16), struct.pack(">HH", width, height), words(0x480000, 0x480000, 0),
                    b"\0\1", bytes(32), b"\0\x18\xff\xff")
        header = full_box(b"vmhd", bytes(8), flags=1)
    else:
        entry = box(codec, bytes(6), b"\0\1", bytes(8), struct.pack(">HHI", 1, 16, 0), words(8000 << 16))
        header = full_box(b"smhd", bytes(4))
    tables = box(b"stbl", full_box(b"stsd", words(1), entry), full_box(b"stts", stts), full_box(b"stsc", stsc),
                 full_box(b"stsz", stsz), full_box(b"stco", stco))
    data = box(b"dinf", full_box(b"dref", words(1), full_box(b"url ", flags=1)))
    return box(b"trak",
               full_box(b"tkhd", words(0, 0, 1, 0, 1000), bytes(16), MATRIX, words(width << 16, height << 16), flags=3),
               box(b"mdia", full_box(b"mdhd", words(0, 0, 1000, 1000, 0)),
                   full_box(b"hdlr", words(0), kind, bytes(14)), box(b"minf", header, data, tables)))


def fragmented(*runs):
    nothing = words(0)
    return (FILE_TYPE + box(b"moov", MOVIE_HEADER, track(stts=nothing, stsc=nothing, stsz=words(0, 0), stco=nothing),
                            box(b"mvex", full_box(b"trex", words(1, 1, 40, 100, 0)))) +
            box(b"moof", full_box(b"mfhd", words(1)), box(b"traf", full_box(b"tfhd", words(1), flags=0x20000), *runs)) +
            box(b"mdat", bytes(400)))


def packed(movie, size=None):
    return FILE_TYPE + box(b"moov", box(b"cmov", box(b"dcom", b"zlib"),
                                        box(b"cmvd", words(size or len(movie)), zlib.compress(movie, 9))))


def element(identity, *parts):
    body = b"".join(parts)
    identity = bytes.fromhex(identity)
    size = (len(body) | 1 << 14).to_bytes(2, "big") if len(body) < 0x3fff else (len(body) | 1 << 28).to_bytes(4, "big")
    return identity + size + body


def matroska(*parts):
    return element("1A45DFA3", element("4282", b"matroska"), element("4287", b"\4"), element("4285", b"\2")) + element(
        "18538067", *parts)


def picture_track(codec=b"V_MJPEG"):
    return element("1654AE6B", element(
        "AE", element("D7", b"\1"), element("73C5", b"\1"), element("83", b"\1"), element("86", codec),
        element("E0", element("B0", b"\x40"), element("BA", b"\x30"))))


def cluster(time, data=b""):
    return element("1F43B675", element("E7", time.to_bytes(8, "big")), element("A3", b"\x81\0\0\x80" + data))


def bombs():
    data = box(b"mdat", bytes(400))

    def mp4(*tracks):
        return FILE_TYPE + data + box(b"moov", MOVIE_HEADER, *tracks)

    long_chunk = words(1, 1, 0x7fffffff, 1)
    uniform = track(stts=words(1, 0xffffffff, 1), stsc=long_chunk, stsz=words(1, 20_000_000))
    sound = track(b"soun", b"sowt", stts=words(1, 8000, 1), stsc=long_chunk, stsz=words(2, 8000),
                  stco=words(12, *[len(FILE_TYPE) + 8] * 12))
    tag = element("7373", element("67C8", element("45A3", b"N"), element("4487", b"v")))
    return {
        "bomb_samples.mp4": mp4(uniform),
        "bomb_samples_table.mp4": mp4(track(stsz=words(0, 0xffffffff))),
        "bomb_chunks.mp4": mp4(sound),
        "bomb_durations.mp4": mp4(track(stts=words(0xffffffff, 1, 1))),
        "bomb_tracks.mp4": FILE_TYPE + box(b"moov", MOVIE_HEADER, *[box(b"trak")] * 501),
        "bomb_run.mp4": fragmented(full_box(b"trun", words(10_000_000))),
        "bomb_run_fields.mp4": fragmented(full_box(b"trun", words(3_000_000), flags=0x200)),
        "bomb_packed.mov": packed(box(b"moov", MOVIE_HEADER, uniform)),
        "bomb_packed_zeros.mov": packed(bytes(3_000_000)),
        "bomb_packed_claim.mov": packed(MOVIE_HEADER, 0xf0000000),
        "bomb_tracks.mkv": matroska(element("1654AE6B", b"\xae\x80" * 501)),
        "bomb_tags.mkv": matroska(picture_track(), element("1254C367", tag * 200), cluster(0)),
        "bomb_times.mkv": matroska(picture_track(), cluster(0), cluster(1 << 58), cluster((1 << 63) - 1)),
        "bomb_picture.y4m": b"YUV4MPEG2 W30000 H30000 F25:1 C444\nFRAME\n",
        "bomb_picture.gif": b"GIF89a" + struct.pack("<HHBBB", 65535, 65535, 0x80, 0, 0) + bytes(6) + (
            b"," + struct.pack("<HHHHB", 0, 0, 65535, 65535, 0) + b"\x02\x02\x44\x01\0") * 2 + b";",
        "bomb_sound.wav": b"RIFF\xff\xff\xff\xffWAVEfmt " + struct.pack(
            "<IHHIIHH", 16, 1, 65535, 768000, 0xffffffff, 65535, 8) + b"data\xff\xff\xff\xff" + bytes(100),
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
    for name, data in bombs().items():
        write(name, data)
    write("nothing", b"")
    write("text", b"This is not a media file.\n" * 3)
    write("playlist.m3u8", b"#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nfile:///etc/hostname\n")
    write("concat", b"ffconcat version 1.0\nfile /etc/hostname\n")
    for path in sorted(CORPUS.iterdir()):
        print(path.stat().st_size, path.name)


if __name__ == "__main__":
    main()
