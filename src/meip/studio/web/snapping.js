// Where a drawn line may well be meant to go: corners, seams, the guides of the scene, multiples of 15 degrees.

const NEAR = 11, NEAR_LINE = 9;  // pixels
const ANGLE = Math.PI / 12, CLOSE = 3.5 * Math.PI / 180;

const distance = (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1]);

function onSegment(p, a, b) {
  const [dx, dy] = [b[0] - a[0], b[1] - a[1]];
  const t = Math.max(0, Math.min(1, ((p[0] - a[0]) * dx + (p[1] - a[1]) * dy) / (dx * dx + dy * dy || 1)));
  return [a[0] + t * dx, a[1] + t * dy];
}

function onLine(p, a, b) {
  const [dx, dy] = [b[0] - a[0], b[1] - a[1]];
  const t = ((p[0] - a[0]) * dx + (p[1] - a[1]) * dy) / (dx * dx + dy * dy || 1);
  return [a[0] + t * dx, a[1] + t * dy];
}

export function snapper(scene) {
  const corners = [];
  const seams = [];
  for (const sheet of scene.sheets) {
    for (const [i, point] of sheet.points.entries()) {
      if (!corners.some((known) => distance(known, point) < 1e-6)) corners.push(point);
      if (sheet.edges[i] === "seam") seams.push([point, sheet.points[(i + 1) % sheet.points.length]]);
    }
  }
  const lines = [...scene.guides.map((guide) => ({ name: guide.name, line: guide.line })), ...seams.map((line) => ({ name: "along a seam", line }))];

  /** One end: the nearest corner, else the nearest seam. */
  function point(p, unit) {
    let best = null;
    for (const corner of corners) {
      const d = distance(p, corner);
      if (d < NEAR * unit && (!best || d < best.d)) best = { d, point: corner, why: "corner" };
    }
    if (best) return best;
    for (const [a, b] of seams) {
      const at = onSegment(p, a, b);
      const d = distance(p, at);
      if (d < NEAR_LINE * unit && (!best || d < best.d)) best = { d, point: at, why: "seam" };
    }
    return best ?? { point: p, why: "" };
  }

  /** The other end, and with it the line: a guide that both ends are near, a corner, a seam, an angle. */
  function line(fixed, p, unit) {
    if (distance(fixed, p) > 4 * NEAR * unit) {
      let best = null;
      for (const { name, line: [a, b] } of lines) {
        const [f, m] = [onLine(fixed, a, b), onLine(p, a, b)];
        const d = Math.max(distance(fixed, f), distance(p, m));
        if (d < NEAR_LINE * unit && (!best || d < best.d)) best = { d, fixed: f, moved: m, why: name };
      }
      if (best) return best;
    }
    const near = point(p, unit);
    if (near.why) return { fixed, moved: near.point, why: near.why };
    const angle = Math.atan2(p[1] - fixed[1], p[0] - fixed[0]);
    const round = Math.round(angle / ANGLE) * ANGLE;
    if (Math.abs(angle - round) < CLOSE && distance(fixed, p) > NEAR * unit) {
      const length = distance(fixed, p) * Math.cos(angle - round);
      const degrees = ((Math.round(round * 180 / Math.PI) % 180) + 180) % 180;
      return { fixed, moved: [fixed[0] + length * Math.cos(round), fixed[1] + length * Math.sin(round)], why: `${degrees}°` };
    }
    return { fixed, moved: p, why: "" };
  }

  return { point, line };
}
