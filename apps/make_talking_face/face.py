"""Draws the face.

Lengths are in eye distances (between the pupils), x to the right, y down, with the origin midway
between the eyes. The head is painted once per clip from a height map lit by one lamp. Each picture
then moves the jaw, draws lips and eyes, and places the head in the scene, all at twice the output
resolution.
"""

from dataclasses import dataclass

import cv2
import numpy as np

SUPERSAMPLING = 2
MOUTH_Y = 1.10

_LEFT, _RIGHT, _TOP, _BOTTOM = -1.75, 1.75, -2.15, 2.55
_VIEW_DISTANCE = 9.0

_SKINS_RGB = (
    (238, 203, 180), (229, 188, 160), (222, 174, 142), (203, 152, 118),
    (180, 128, 94), (150, 102, 72), (120, 80, 58), (96, 64, 48),
)  # fmt: skip
_HAIRS_RGB = (
    (32, 26, 24), (52, 36, 28), (84, 56, 36), (120, 82, 48),
    (176, 138, 84), (150, 70, 40), (150, 146, 142), (214, 210, 204),
)  # fmt: skip
_IRISES_RGB = ((70, 48, 32), (94, 66, 40), (88, 104, 70), (90, 120, 146), (70, 86, 110))


def _bgr(rgb):
    return np.array(rgb[::-1], np.float32)


@dataclass(frozen=True)
class Pose:
    """Head pose: angles in radians, shifts in eye distances, scale as a factor."""

    roll: float = 0.0
    yaw: float = 0.0
    pitch: float = 0.0
    shift_x: float = 0.0
    shift_y: float = 0.0
    scale: float = 1.0


@dataclass(frozen=True)
class EyeState:
    """`lid` 1 open to 0 shut, gaze in eye distances, brow lift in eye distances."""

    lid: float = 1.0
    gaze_x: float = 0.0
    gaze_y: float = 0.0
    brow: float = 0.0


class FaceLook:
    """The appearance of one person and scene, drawn from `rng`."""

    def __init__(self, rng):
        tone = rng.uniform(0, len(_SKINS_RGB) - 1)
        low = int(tone)
        mix = tone - low
        high = min(low + 1, len(_SKINS_RGB) - 1)
        self.skin = _bgr(_SKINS_RGB[low]) * (1 - mix) + _bgr(_SKINS_RGB[high]) * mix
        darkness = tone / (len(_SKINS_RGB) - 1)
        hair = rng.integers(0, 4 if darkness > 0.5 else len(_HAIRS_RGB))
        self.hair = _bgr(_HAIRS_RGB[hair]) * rng.uniform(0.8, 1.15)
        self.brow_colour = np.minimum(self.hair * 0.7, self.skin * 0.42)
        self.iris = _bgr(_IRISES_RGB[rng.integers(0, 2 if darkness > 0.5 else len(_IRISES_RGB))])
        red = rng.uniform(0.0, 1.0)
        pale_lip = np.array((0.66 - 0.1 * red, 0.58 - 0.12 * red, 0.84), np.float32)
        dark_lip = np.array((0.85, 0.60, 0.82 + 0.1 * red), np.float32)
        self.lip = self.skin * (pale_lip * (1 - darkness) + dark_lip * darkness)
        self.face_width = rng.uniform(0.93, 1.07)
        self.jaw_width = rng.uniform(0.92, 1.10)
        self.chin = rng.uniform(-0.06, 0.08)
        self.nose_width = rng.uniform(0.88, 1.18)
        self.nose_relief = rng.uniform(0.85, 1.2)
        self.mouth_width = rng.uniform(0.37, 0.43)
        self.upper_lip = rng.uniform(0.080, 0.115) + 0.03 * darkness
        self.lower_lip = rng.uniform(0.105, 0.150) + 0.02 * darkness
        self.lip_contrast = 0.40 * darkness
        self.smile = rng.uniform(-0.015, 0.025)
        self.eye_height = rng.uniform(0.085, 0.110)
        self.eye_width = rng.uniform(0.21, 0.235)
        self.brow_thickness = rng.uniform(0.035, 0.06)
        self.brow_arch = rng.uniform(0.04, 0.09)
        self.brow_height = rng.uniform(0.29, 0.35)
        self.hair_style = ("short", "long", "receding")[rng.choice(3, p=(0.5, 0.35, 0.15))]
        self.hairline = rng.uniform(-1.08, -0.88) - (0.2 if self.hair_style == "receding" else 0)
        self.beard = 0.0
        if self.hair_style != "long" and rng.random() < 0.35:
            self.beard = rng.uniform(0.12, 0.42)
        direction = (rng.uniform(-0.6, 0.6), rng.uniform(-0.85, -0.25), rng.uniform(0.8, 1.2))
        self.light = _unit(np.array(direction))
        self.ambient = rng.uniform(0.38, 0.58)
        self.tint = np.array(
            (1 + rng.uniform(-0.07, 0.05), 1.0, 1 + rng.uniform(-0.04, 0.05)), np.float32
        )
        self.clothes = _bgr(rng.integers(25, 220, 3))
        self.wall = rng.uniform(40, 200) + _bgr(rng.uniform(-38, 38, 3))
        self.wall_end = np.clip(self.wall * rng.uniform(0.5, 1.3), 15, 240)
        self.wall_shapes = int(rng.integers(0, 6))
        self.blur = rng.uniform(0.0, 0.55)
        self.gain = rng.uniform(0.88, 1.1) * (1 + 0.3 * darkness)
        self.texture_seed = int(rng.integers(1 << 31))


class FaceRenderer:
    """Draws pictures of one `FaceLook`. Size is (width, height) in pixels."""

    def __init__(self, look, size, eye_distance_px):
        self._look = look
        self._size = size
        self._rng = np.random.default_rng(look.texture_seed)
        self._scale = SUPERSAMPLING * eye_distance_px
        self._width = int(round((_RIGHT - _LEFT) * self._scale))
        self._height = int(round((_BOTTOM - _TOP) * self._scale))
        x = (np.arange(self._width, dtype=np.float32) + 0.5) / self._scale + _LEFT
        y = (np.arange(self._height, dtype=np.float32) + 0.5) / self._scale + _TOP
        self._x, self._y = np.meshgrid(x, y)
        self._scene = self._paint_scene()
        self._paint_head()
        self._prepare_jaw()
        self._mouth_box = self._box(-0.70, 0.70, 0.78, 1.66)
        self._eye_box = self._box(-0.76, 0.76, -0.20, 0.13)
        self._brow_box = self._box(-0.90, 0.90, -0.55, -0.16)

    def render(self, mouth, eyes, pose):
        """Returns a uint8 BGR picture. `mouth` holds the articulation parameters."""
        canvas = self._head.copy()
        self._move_jaw(canvas, jaw=0.62 * mouth["open"] + 0.012 * mouth["teeth"])
        self._draw_mouth(canvas, mouth)
        self._draw_eyes(canvas, eyes)
        self._draw_brows(canvas, eyes.brow)
        width, height = self._size
        placed = cv2.warpPerspective(
            canvas,
            self._head_to_picture(pose),
            (width * SUPERSAMPLING, height * SUPERSAMPLING),
            flags=cv2.INTER_LINEAR,
        )
        placed = cv2.resize(placed, (width, height), interpolation=cv2.INTER_AREA)
        cover = cv2.cvtColor(255 - placed[:, :, 3], cv2.COLOR_GRAY2BGR)
        picture = cv2.multiply(self._scene, cover, scale=1 / 255, dtype=cv2.CV_32F)
        picture = cv2.add(picture, placed[:, :, :3], dtype=cv2.CV_32F)
        if self._look.blur > 0.2:
            picture = cv2.GaussianBlur(picture, (0, 0), self._look.blur)
        return picture

    def _box(self, x0, x1, y0, y1):
        left = int((x0 - _LEFT) * self._scale)
        right = int((x1 - _LEFT) * self._scale)
        top = int((y0 - _TOP) * self._scale)
        bottom = int((y1 - _TOP) * self._scale)
        return slice(top, bottom), slice(left, right)

    def _head_to_picture(self, pose):
        cos_r, sin_r = np.cos(pose.roll), np.sin(pose.roll)
        cos_y, sin_y = np.cos(pose.yaw), np.sin(pose.yaw)
        cos_p, sin_p = np.cos(pose.pitch), np.sin(pose.pitch)
        roll = np.array(((cos_r, -sin_r, 0), (sin_r, cos_r, 0), (0, 0, 1)))
        yaw = np.array(((cos_y, 0, sin_y), (0, 1, 0), (-sin_y, 0, cos_y)))
        pitch = np.array(((1, 0, 0), (0, cos_p, -sin_p), (0, sin_p, cos_p)))
        turn = roll @ yaw @ pitch
        pivot_y = 0.9
        unit = 1 / self._scale
        to_head = np.array(((unit, 0, _LEFT), (0, unit, _TOP - pivot_y), (0, 0, 1)))
        shift = (pose.shift_x, pose.shift_y + pivot_y, _VIEW_DISTANCE)
        place = np.column_stack((turn[:, 0], turn[:, 1], shift))
        focal = self._scale * pose.scale * _VIEW_DISTANCE
        centre_x = self._size[0] * SUPERSAMPLING / 2
        centre_y = self._size[1] * SUPERSAMPLING / 2
        camera = np.array(((focal, 0, centre_x), (0, focal, centre_y), (0, 0, 1)))
        return camera @ place @ to_head

    # Painting that is done once.

    def _paint_scene(self):
        look, rng = self._look, self._rng
        width, height = self._size[0] * 2, self._size[1] * 2
        across = np.linspace(0, 1, width, dtype=np.float32)[None, :, None]
        down = np.linspace(0, 1, height, dtype=np.float32)[:, None, None]
        mix = np.clip(0.6 * across + 0.4 * down, 0, 1)
        wall = look.wall * (1 - mix) + look.wall_end * mix
        for _ in range(look.wall_shapes):
            x, y = int(rng.integers(-width // 4, width)), int(rng.integers(-height // 4, height))
            w, h = int(rng.integers(width // 10, width // 2)), int(rng.integers(height // 10, height))
            colour = np.clip(look.wall * rng.uniform(0.5, 1.4) + rng.uniform(-25, 25, 3), 5, 245).tolist()
            cv2.rectangle(wall, (x, y), (x + w, y + h), colour, -1)
        wall = cv2.GaussianBlur(wall, (0, 0), height / 60)

        unit = self._scale
        shoulders = np.array(
            ((-0.5, 1.75), (-0.75, 2.05), (-1.3, 2.25), (-2.0, 2.5), (-2.4, 3.4),
             (2.4, 3.4), (2.0, 2.5), (1.3, 2.25), (0.75, 2.05), (0.5, 1.75))
        )  # fmt: skip
        points = shoulders * unit + (width / 2, height / 2)
        mask = np.zeros((height, width), np.float32)
        _fill(mask, points)
        mask = cv2.GaussianBlur(mask, (0, 0), 1.5)[:, :, None]
        fold = cv2.resize(
            rng.normal(0, 1, (6, 14)).astype(np.float32), (width, height), interpolation=cv2.INTER_CUBIC
        )
        shade = (0.85 + 0.08 * fold)[:, :, None] * look.gain
        scene = wall * (1 - mask) + look.clothes * shade * mask
        scene = np.clip(scene, 0, 255).astype(np.float32)
        return cv2.resize(scene, self._size, interpolation=cv2.INTER_AREA)

    def _outline(self):
        look = self._look
        half = np.array(
            ((0.0, -1.46), (0.55, -1.35), (0.93, -0.98), (1.09, -0.42), (1.10, 0.15), (1.04, 0.60),
             (0.93, 1.02), (0.73, 1.40), (0.45, 1.67), (0.20, 1.77), (0.0, 1.785))
        )  # fmt: skip
        jaw = np.clip((half[:, 1] - 0.4) / 0.8, 0, 1)
        half[:, 0] *= look.face_width * (1 + (look.jaw_width - 1) * jaw)
        half[:, 1] += look.chin * np.clip((half[:, 1] - 1.1) / 0.6, 0, 1)
        return _closed_curve(half)

    def _mask(self, outline, soften=0.012):
        mask = np.zeros((self._height, self._width), np.float32)
        _fill(mask, (outline - (_LEFT, _TOP)) * self._scale)
        return cv2.GaussianBlur(mask, (0, 0), max(0.6, soften * self._scale))

    def _spot(self, x, y, width, height):
        return np.exp(-0.5 * (((self._x - x) / width) ** 2 + ((self._y - y) / height) ** 2))

    def _pair(self, x, y, width, height):
        return self._spot(-x, y, width, height) + self._spot(x, y, width, height)

    def _relief(self):
        look, x, y = self._look, self._x, self._y
        skull = 1 - (x / (1.22 * look.face_width)) ** 2 - ((y - 0.12) / 1.85) ** 2
        z = 1.15 * np.sqrt(np.maximum(skull, 0.02))
        along = np.clip((y + 0.15) / 0.75, 0, 1)
        ridge_height = look.nose_relief * (0.05 + 0.25 * along**1.3)
        ridge_end = 1 / (1 + np.exp((y - 0.66) / 0.035))
        ridge_start = 1 / (1 + np.exp(-(y + 0.15) / 0.06))
        ridge_width = (0.095 + 0.055 * along) * look.nose_width
        z += ridge_height * np.exp(-0.5 * (x / ridge_width) ** 2) * ridge_end * ridge_start
        z += 0.10 * look.nose_relief * self._spot(0, 0.58, 0.12 * look.nose_width, 0.09)
        z += 0.09 * self._pair(0.17 * look.nose_width, 0.64, 0.075, 0.075)
        z += 0.06 * self._pair(0.45, -0.27, 0.28, 0.09)
        z -= 0.10 * self._pair(0.47, -0.03, 0.24, 0.14)
        z += 0.06 * self._pair(0.50, 0.0, 0.16, 0.11)
        z += 0.06 * self._pair(0.66, 0.40, 0.24, 0.20)
        z += 0.09 * self._spot(0, 1.10, 0.40, 0.24)
        z -= 0.02 * self._spot(0, 0.87, 0.035, 0.08)
        z += 0.08 * self._spot(0, 1.58 + look.chin, 0.22, 0.13)
        z -= 0.045 * self._spot(0, 1.37, 0.24, 0.06)
        for side in (-1, 1):
            fold = np.abs((side * x - 0.30) - 0.42 * (y - 0.66))
            reach = 1 / (1 + np.exp(-(y - 0.68) / 0.05)) / (1 + np.exp((y - 1.08) / 0.06))
            z -= 0.018 * np.exp(-0.5 * (fold / 0.03) ** 2) * reach
        return z.astype(np.float32)

    def _lit(self, z):
        slope_y, slope_x = np.gradient(z, 1 / self._scale)
        norm = 1 / np.sqrt(slope_x**2 + slope_y**2 + 1)
        light = self._look.light.astype(np.float32)
        facing = np.maximum((-slope_x * light[0] - slope_y * light[1] + light[2]) * norm, 0)
        half = _unit(light + np.array((0, 0, 1.0)))
        shine = np.maximum((-slope_x * half[0] - slope_y * half[1] + half[2]) * norm, 0) ** 28
        return self._look.ambient + (1.08 - self._look.ambient) * facing, shine

    def _noise(self, cells_x, cells_y):
        grid = self._rng.normal(0, 1, (cells_y, cells_x)).astype(np.float32)
        return cv2.resize(grid, (self._width, self._height), interpolation=cv2.INTER_CUBIC)

    def _paint_head(self):
        look, x, y = self._look, self._x, self._y
        outline = self._outline()
        face = self._mask(outline)
        shade, shine = self._lit(self._relief())
        grain = 1 + 0.018 * self._noise(22, 30) + 0.012 * self._noise(120, 160)
        skin = np.repeat((look.skin * look.tint)[None, None, :], self._height, 0).repeat(self._width, 1)
        blush = 0.5 * self._pair(0.62, 0.45, 0.25, 0.2) + 0.5 * self._spot(0, 0.58, 0.16, 0.12)
        skin = skin * (1 - blush[:, :, None] * np.array((0.14, 0.10, 0.0), np.float32))
        skin = skin * (shade * grain)[:, :, None] + 26 * shine[:, :, None] * look.ambient
        dark = 0.72 * self._pair(0.105 * look.nose_width, 0.715, 0.045, 0.024)
        dark += 0.30 * self._spot(0, 0.76, 0.20, 0.035)
        dark += 0.20 * self._pair(0.235 * look.nose_width, 0.66, 0.02, 0.05)
        dark += 0.16 * self._pair(0.44, -0.10, 0.24, 0.07)
        dark += 0.10 * self._pair(0.46, 0.14, 0.20, 0.05)
        dark += 0.12 * self._spot(0, 1.365, 0.20, 0.04)
        if look.beard:
            area = np.clip((y - 0.62 - 0.35 * np.abs(np.abs(x) - 0.3)) / 0.3, 0, 1)
            area *= 1 - 0.9 * self._spot(0, 1.10, 0.36, 0.14)
            area *= 1 - np.clip(1.2 * self._pair(0.62, 0.62, 0.26, 0.26), 0, 1)
            dark += look.beard * area * (0.85 + 0.15 * self._noise(160, 200))
        skin = skin * (1 - np.clip(dark, 0, 0.9))[:, :, None]
        skin_face = np.clip(skin * look.gain, 0, 255)

        back = np.zeros((self._height, self._width, 4), np.float32)
        hair = self._hair_texture()
        if look.hair_style == "long":
            half = np.array(
                ((0.0, -1.72), (0.7, -1.60), (1.20, -1.05), (1.34, -0.2), (1.36, 0.7), (1.30, 1.5),
                 (1.15, 2.1), (0.8, 2.25), (0.0, 2.2))
            )  # fmt: skip
            _over(back, hair * 0.75, self._mask(_closed_curve(half * (look.face_width, 1)), 0.02))
        neck_half = np.array(
            ((0.0, 1.0), (0.66, 1.0), (0.64, 1.6), (0.66, 2.0), (0.80, 2.2), (0.5, 2.42), (0.0, 2.45))
        )
        neck = self._mask(_closed_curve(neck_half * (look.face_width, 1)), 0.015)
        fall = 0.80 - 0.30 * np.exp(-0.5 * ((y - 1.72) / 0.22) ** 2) - 0.30 * (x / 0.75) ** 2
        neck_skin = look.skin * look.tint * look.gain * np.clip(fall, 0.25, 1)[:, :, None]
        _over(back, neck_skin, neck)
        ear_x = 1.10 * look.face_width
        for side in (-1, 1):
            ear = self._mask(_ellipse(side * ear_x, 0.22, 0.15, 0.34, side * 0.15))
            hollow = self._spot(side * (ear_x + 0.03), 0.2, 0.05, 0.17)
            tone = look.skin * look.tint * look.gain * (0.78 - 0.3 * hollow)[:, :, None]
            _over(back, tone, ear * (0.0 if look.hair_style == "long" else 1.0))

        head = np.zeros_like(back)
        _over(head, skin_face, face)
        if look.hair_style == "receding":
            self._paint_hair(head, hair, top=-1.55, volume=0.97)
        else:
            self._paint_hair(head, hair, top=-1.74, volume=1.0)
        self._back = back
        self._front = head
        self._head = _to_bytes(_stack(head, back))

    def _hair_texture(self):
        strands = self._rng.normal(0, 1, (self._height, self._width)).astype(np.float32)
        strands = cv2.GaussianBlur(strands, (0, 0), 0.012 * self._scale, sigmaY=0.12 * self._scale)
        strands /= strands.std()
        dome = np.clip(1.05 - 0.25 * ((self._x + 0.4 * self._look.light[0]) / 1.1) ** 2, 0.4, 1.2)
        gloss = 0.25 * np.exp(-0.5 * ((self._y + 1.35) / 0.14) ** 2)
        tone = dome * (0.85 + 0.16 * strands + gloss) * self._look.gain
        return np.clip(self._look.hair * tone[:, :, None] + 6 * gloss[:, :, None], 0, 255)

    def _paint_hair(self, head, hair, top, volume):
        line = self._look.hairline
        half = np.array(
            ((0.0, top), (0.62, top + 0.10), (1.08, -1.20), (1.25, -0.60), (1.22, -0.05),
             (1.13, 0.22), (1.03, 0.20), (1.00, -0.20), (0.93, -0.55), (0.72, line + 0.18),
             (0.40, line), (0.0, line + 0.03))
        )  # fmt: skip
        half[:, 0] *= self._look.face_width * volume
        _over(head, hair, self._mask(_closed_curve(half), 0.03))

    # Painting that is done for every picture.

    def _prepare_jaw(self):
        top = int((0.80 - _TOP) * self._scale)
        self._jaw_rows = slice(top, self._height)
        x, y = self._x[self._jaw_rows], self._y[self._jaw_rows]
        weight = np.clip((y - 0.92) / 0.42, 0, 1)
        weight = weight * weight * (3 - 2 * weight)
        side = np.clip((np.abs(x) - 0.55) / 0.55, 0, 1)
        self._jaw_weight = weight * (1 - 0.55 * side)
        rows = np.arange(y.shape[0], dtype=np.float32)[:, None].repeat(y.shape[1], 1)
        columns = np.arange(y.shape[1], dtype=np.float32)[None, :].repeat(y.shape[0], 0)
        self._jaw_grid = np.ascontiguousarray(columns), np.ascontiguousarray(rows)
        self._jaw_front = _to_bytes(self._front[self._jaw_rows])
        self._jaw_back = _to_bytes(self._back[self._jaw_rows])

    def _move_jaw(self, canvas, jaw):
        columns, rows = self._jaw_grid
        moved = cv2.remap(
            self._jaw_front,
            columns,
            rows - np.float32(jaw * self._scale) * self._jaw_weight,
            cv2.INTER_LINEAR,
            borderMode=cv2.BORDER_CONSTANT,
        )
        behind = (255 - moved[:, :, 3]).astype(np.float32) * (1 / 255.0)
        behind = cv2.merge((behind, behind, behind, behind))
        rest = cv2.multiply(self._jaw_back, behind, dtype=cv2.CV_8U)
        canvas[self._jaw_rows] = cv2.add(moved, rest)

    def _draw_mouth(self, canvas, mouth):
        look, box = self._look, self._mouth_box
        row, column = self._x[box][:1], self._y[box][:, :1]
        edge = np.float32(0.75 / self._scale)
        gap, press, tuck, rounded = mouth["open"], mouth["press"], mouth["tuck"], mouth["round"]

        half = look.mouth_width * mouth["width"] * (1 - 0.25 * gap)
        inner = half * (0.90 - 0.06 * rounded)
        seam_y = MOUTH_Y + 0.10 * gap - 0.02 * tuck
        u = np.clip(row / half, -1, 1)
        v = np.clip(row / inner, -1, 1)
        seam = seam_y - look.smile * u * u * (1 - rounded) + 0.012 * np.exp(-((u / 0.16) ** 2))
        arch = (1 - v * v) ** (0.62 + 0.15 * rounded)
        inner_top = seam - 0.30 * gap * arch - 0.012 * tuck
        inner_bottom = seam + 0.70 * gap * arch - 0.012 * tuck

        profile = (1 - u * u) ** 0.75
        thin = 1 - 0.35 * press - 0.25 * max(mouth["width"] - 1, 0)
        plump = 1 + 0.22 * rounded
        bow = 1 - 0.16 * np.exp(-((u / 0.13) ** 2)) + 0.06 * np.exp(-(((np.abs(u) - 0.25) / 0.15) ** 2))
        upper = look.upper_lip * thin * plump * profile * bow
        lower = look.lower_lip * thin * plump * (1 - 0.55 * tuck) * (1 - u * u) ** 0.6
        outer_top = inner_top - upper
        outer_bottom = inner_bottom + lower

        def band(low, high):
            reach = np.minimum(column + edge, high) - np.maximum(column - edge, low)
            return np.clip(reach * (0.5 / edge), 0, 1)

        patch = _planes(canvas[box])

        below = np.exp(-0.5 * ((column - outer_bottom - 0.035) / 0.03) ** 2) * np.clip(1 - u * u, 0, 1)
        patch *= 1 - 0.20 * below
        rim = np.exp(-0.5 * ((column - outer_top + 0.014) / 0.013) ** 2) * profile
        patch *= 1 + 0.12 * rim

        gloss = look.ambient
        height = np.clip((column - outer_top) / np.maximum(upper, 1e-3), 0, 1)
        upper_tone = (0.92 - 0.22 * height) * look.gain
        depth = np.clip((column - inner_bottom) / np.maximum(lower, 1e-3), 0, 1)
        swell = np.exp(-0.5 * ((depth - 0.42) / 0.22) ** 2) * (1 - 0.6 * u * u)
        lower_tone = (0.88 + 0.30 * swell) * look.gain
        lower_tone = lower_tone * (1 + look.lip_contrast * (1 - u * u))
        grain = 1 + 0.03 * np.sin(row * 110) * np.exp(-((u / 0.8) ** 2))
        _blend(patch, look.lip * look.tint, upper_tone * grain, band(outer_top, inner_top) * 0.92)
        _blend(patch, look.lip * look.tint, lower_tone * grain, band(inner_bottom, outer_bottom) * 0.90)
        glint_x = (row - 0.1 * look.light[0]) / 0.13
        glint = np.exp(-0.5 * (((depth - 0.40) / 0.10) ** 2 + glint_x**2))
        patch += 24 * gloss * glint * band(inner_bottom, outer_bottom)

        seam_line = np.exp(-0.5 * ((column - (inner_top + inner_bottom) / 2) / 0.011) ** 2) * (np.abs(u) < 1)
        patch *= 1 - 0.62 * seam_line * np.clip(1.3 - np.abs(u), 0, 1) * max(0.0, 1 - gap / 0.05)

        cavity = band(inner_top, inner_bottom)
        if gap > 0.004:
            self._draw_cavity(patch, mouth, cavity, row, column, band, inner_top, inner_bottom, inner)
        _put_planes(canvas[box], patch)

    def _draw_cavity(self, patch, mouth, cavity, row, column, band, inner_top, inner_bottom, inner):
        look, gap, teeth = self._look, mouth["open"], mouth["teeth"]
        _blend(patch, np.array((22, 18, 46), np.float32), 1.0, cavity)
        floor = MOUTH_Y + 0.10 * gap + 0.70 * gap

        rise = 0.35 + 0.55 * mouth["tongue"]
        tongue_top = floor - rise * gap * np.sqrt(np.clip(1 - (row / (0.75 * inner)) ** 2, 0, 1))
        body = band(tongue_top, inner_bottom + 0.02) * cavity * (np.abs(row) < 0.75 * inner)
        shade = 0.55 + 0.45 * np.clip((column - tongue_top) / max(gap, 0.05), 0, 1)
        _blend(patch, np.array((92, 84, 170), np.float32) * look.gain, shade, body * 0.85)

        edge_y = MOUTH_Y + 0.012 + 0.03 * teeth - 0.04 * mouth["tuck"]
        curve = 0.05 * (row / 0.35) ** 2
        side = np.clip((0.34 - np.abs(row)) / 0.10, 0, 1)
        gaps = 1 - 0.16 * np.exp(-0.5 * (((row / 0.085 + 0.5) % 1 - 0.5) / 0.09) ** 2)
        tone = (0.62 + 0.38 * side) * gaps * min(look.gain, 1.05)
        visible = band(inner_top - 0.02, edge_y - curve) * cavity * side
        shadow = np.clip((column - inner_top) / 0.05 + 0.35, 0.35, 1)
        ivory = np.array((196, 214, 222), np.float32)
        _blend(patch, ivory, tone * shadow, visible * min(1.0, 0.35 + 0.65 * teeth))

        low_edge = edge_y + 0.02 + max(0.0, 0.80 * gap - 0.03) * (1 - 0.35 * teeth)
        visible = band(low_edge + curve, inner_bottom + 0.02) * cavity * side
        _blend(patch, ivory * 0.86, tone * 0.9, visible * np.clip(1.6 * teeth - 0.5, 0, 0.85))

    def _draw_eyes(self, canvas, eyes):
        look, box = self._look, self._eye_box
        row, column = self._x[box][:1], self._y[box][:, :1]
        sharp = np.float32(self._scale / 1.5)
        patch = _planes(canvas[box])

        away = np.abs(row) - 0.5
        u = np.clip(away / look.eye_width, -1, 1)
        inside = (np.abs(away) < look.eye_width * 1.02).astype(np.float32)
        tilt = -0.018 * u
        roof = tilt - look.eye_height * (1 - np.abs(u) ** 2.2) ** 0.85
        floor = tilt + 0.62 * look.eye_height * (1 - u * u) ** 0.9
        lid = floor + (roof - floor) * (0.04 + 0.96 * eyes.lid)
        opening = np.clip((column - lid) * sharp + 0.5, 0, 1)
        opening = opening * np.clip((floor - column) * sharp + 0.5, 0, 1) * inside

        skin_lid = np.clip((column - roof) * sharp + 0.5, 0, 1)
        skin_lid = skin_lid * np.clip((lid - column) * sharp + 0.5, 0, 1) * inside
        _blend(patch, look.skin * look.tint * 0.78 * look.gain, 1.0, skin_lid)

        ball = (0.92 - 0.30 * u * u) * min(look.gain, 1.05) * (0.55 + 0.45 * look.ambient + 0.25)
        ball = ball * np.clip(0.62 + (column - lid) / 0.09, 0.5, 1)
        _blend(patch, np.array((206, 210, 216), np.float32), ball, opening)

        iris_x = np.where(row < 0, np.float32(-0.5), np.float32(0.5)) + eyes.gaze_x
        iris_y = -0.012 + eyes.gaze_y
        radius = np.sqrt((row - iris_x) ** 2 + (column - iris_y) ** 2)
        disc = np.clip((0.098 - radius) * sharp + 0.5, 0, 1) * opening
        ring = 0.62 + 0.5 * np.clip((0.098 - radius) / 0.04, 0, 1)
        ring = ring * np.clip(0.7 + (column - lid) / 0.08, 0.55, 1)
        _blend(patch, look.iris * look.gain, ring, disc)
        pupil = np.clip((0.042 - radius) * sharp + 0.5, 0, 1) * opening
        _blend(patch, np.array((14, 12, 12), np.float32), 1.0, pupil)
        glint_x = iris_x + 0.035 * np.sign(look.light[0] + 1e-6)
        glint = np.exp(-0.5 * ((row - glint_x) ** 2 + (column - iris_y + 0.035) ** 2) / 0.014**2)
        patch += 200 * glint * opening

        lash = np.exp(-0.5 * ((column - lid) / 0.017) ** 2) * inside * (1 - 0.5 * u**4)
        crease = np.exp(-0.5 * ((column - roof + 0.05) / 0.014) ** 2) * inside * (1 - u * u) ** 0.5
        under = np.exp(-0.5 * ((column - floor) / 0.012) ** 2) * inside
        patch *= 1 - np.clip(0.80 * lash + 0.30 * crease + 0.28 * under, 0, 0.92)
        _put_planes(canvas[box], patch)

    def _draw_brows(self, canvas, lift):
        look, box = self._look, self._brow_box
        row, column = self._x[box][:1], self._y[box][:, :1]
        patch = _planes(canvas[box])
        span = np.clip((np.abs(row) - 0.17) / 0.66, 0, 1)
        arch = -look.brow_height - lift - look.brow_arch * np.sin(np.pi * span**1.2)
        thick = look.brow_thickness * (1 - 0.65 * span**2) + 0.002
        hairs = 0.80 + 0.20 * np.sin(row * 140 + column * 60)
        brow = np.exp(-np.abs((column - arch) / thick) ** 3) * hairs
        ends = np.clip((np.abs(row) - 0.17) / 0.08, 0, 1) * np.clip((0.84 - np.abs(row)) / 0.10, 0, 1)
        _blend(patch, look.brow_colour * look.gain, 1.0, brow * ends * 0.85)
        _put_planes(canvas[box], patch)


def _unit(vector):
    return vector / np.linalg.norm(vector)


def _fill(mask, points):
    fixed = np.round(points * 16).astype(np.int32)
    cv2.fillPoly(mask, [fixed], 1.0, lineType=cv2.LINE_8, shift=4)


def _ellipse(x, y, half_width, half_height, turn):
    angle = np.linspace(0, 2 * np.pi, 60, endpoint=False)
    px, py = half_width * np.cos(angle), half_height * np.sin(angle)
    cos_t, sin_t = np.cos(turn), np.sin(turn)
    return np.column_stack((x + px * cos_t - py * sin_t, y + px * sin_t + py * cos_t))


def _closed_curve(half, steps=12):
    """Catmull-Rom curve through `half` (x >= 0, from top to bottom) and its mirror image."""
    mirror = half[-2:0:-1] * (-1, 1)
    points = np.vstack((half, mirror))
    before, after = np.roll(points, 1, 0), np.roll(points, -1, 0)
    beyond = np.roll(points, -2, 0)
    t = np.linspace(0, 1, steps, endpoint=False)[None, :, None]
    p0, p1, p2, p3 = (p[:, None, :] for p in (before, points, after, beyond))
    curve = 0.5 * (
        2 * p1
        + (p2 - p0) * t
        + (2 * p0 - 5 * p1 + 4 * p2 - p3) * t**2
        + (3 * p1 - p0 - 3 * p2 + p3) * t**3
    )
    return curve.reshape(-1, 2)


def _over(canvas, colour, alpha):
    """Lays `colour` with `alpha` over a canvas of premultiplied BGRA (0..255)."""
    alpha = alpha[:, :, None]
    canvas[:, :, :3] = canvas[:, :, :3] * (1 - alpha) + colour * alpha
    canvas[:, :, 3:] = canvas[:, :, 3:] * (1 - alpha) + 255 * alpha


def _stack(front, back):
    return front + back * (1 - front[:, :, 3:] / 255)


def _to_bytes(canvas):
    return np.ascontiguousarray(np.clip(np.round(canvas), 0, 255).astype(np.uint8))


def _planes(pixels):
    """Colour planes of BGRA pixels as floats [3, height, width]."""
    return np.ascontiguousarray(pixels[:, :, :3].transpose(2, 0, 1), np.float32)


def _put_planes(pixels, planes):
    pixels[:, :, :3] = np.clip(planes, 0, 255).astype(np.uint8).transpose(1, 2, 0)


def _blend(planes, colour, tone, alpha):
    for plane, value in zip(planes, colour):
        plane += (float(value) * tone - plane) * alpha
