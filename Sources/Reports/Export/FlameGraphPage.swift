/// What is the same in every flame graph: style and script of the page.
///
/// Rows go down from the root. A row's boxes are as wide as their share; a click widens one to the
/// whole width, another on the box above it goes back.
enum FlameGraphPage {
  /// Up to where the data comes.
  static let beginning = """
    <!DOCTYPE html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>memtrace</title>
    <style>
    :root { color-scheme: light dark; font: 13px system-ui, sans-serif; }
    body { margin: 1em; }
    header { display: flex; flex-wrap: wrap; gap: .5em 1em; align-items: baseline; }
    h1 { font-size: 1.1em; margin: 0; overflow-wrap: anywhere; }
    #detail { min-height: 3em; margin: .6em 0; overflow-wrap: anywhere; }
    #graph { position: relative; }
    #graph button { position: absolute; height: 17px; padding: 0; text-indent: 3px; border: 0;
      overflow: hidden; print-color-adjust: exact; border-radius: 2px; text-align: left; white-space: nowrap;
      font: 12px/17px ui-monospace, monospace; color: #111; cursor: pointer; box-shadow: inset -1px 0 #fff8; }
    #graph button:focus-visible { outline: 2px solid Highlight; z-index: 1; }
    #graph button.faded { opacity: .35; }
    </style>
    </head>
    <body>
    <header>
    <h1></h1><span id="note"></span>
    <label>Show <select id="value"></select></label>
    <label>Search <input id="search" type="search"></label>
    <output id="found"></output>
    </header>
    <p id="detail" aria-live="polite"></p>
    <div id="graph"></div>
    <script>
    "use strict";

    """

  /// From behind the data on.
  static let end = """
    const rowHeight = 18, leastWidth = 0.0008;
    const byID = (id) => document.getElementById(id);
    const tree = nodes.map(([depth, name, ...counts]) => ({ depth, name, counts, children: [] }));
    const open = [];
    for (const node of tree) {
      open.length = node.depth;
      node.parent = open[node.depth - 1] ?? null;
      node.parent?.children.push(node);
      open.push(node);
    }
    let value = shown, focus = tree[0], pattern = "";

    function amount(number) {
      if (!values[value][1]) return number.toLocaleString("en") + (number === 1 ? " block" : " blocks");
      const units = ["B", "KiB", "MiB", "GiB", "TiB"];
      let unit = 0;
      let rest = number;
      while (rest >= 1024 && unit < units.length - 1) { rest /= 1024; unit += 1; }
      return (unit ? rest.toFixed(2) : rest) + " " + units[unit];
    }

    function share(part, whole) {
      return whole ? (100 * part / whole).toFixed(1) + " %" : "0 %";
    }

    function color(node) {
      const [name, image, role] = functions[node.name];
      let hash = 0;
      for (const letter of image + name) hash = (hash * 31 + letter.charCodeAt(0)) >>> 0;
      if (role === "marker") return "#bbb";
      if (role === "user") return `hsl(${20 + hash % 40} 85% ${62 + hash % 12}%)`;
      return `hsl(${190 + hash % 50} 40% ${70 + hash % 10}%)`;
    }

    function describe(node) {
      const [name, image] = functions[node.name];
      const [own, all] = [node.counts[value], tree[0].counts[value]];
      byID("detail").textContent = `${name}${image ? ` (${image})` : ""}: ${amount(own)}, ` +
        `${share(own, all)} of all` +
        (focus.depth ? `, ${share(own, focus.counts[value])} of ${functions[focus.name][0]}` : "");
    }

    function matches(node) {
      return functions[node.name][0].toLowerCase().includes(pattern);
    }

    function found() {
      if (!pattern) return "";
      // The outermost of those that fit: what they call is within them.
      let sum = 0, skipped = Infinity;
      for (const node of tree) {
        if (node.depth > skipped) continue;
        skipped = Infinity;
        if (matches(node)) { sum += node.counts[value]; skipped = node.depth; }
      }
      return `${amount(sum)}, ${share(sum, tree[0].counts[value])}`;
    }

    function box(node, left, width) {
      const element = document.createElement("button");
      element.type = "button";
      element.textContent = functions[node.name][0];
      element.style.left = 100 * left + "%";
      element.style.width = 100 * width + "%";
      element.style.top = node.depth * rowHeight + "px";
      element.style.background = color(node);
      element.classList.toggle("faded", pattern !== "" && !matches(node));
      element.onmouseenter = element.onfocus = () => describe(node);
      element.onclick = () => { focus = node; draw(); describe(node); };
      return element;
    }

    function draw() {
      const boxes = [];
      for (let node = focus.parent; node; node = node.parent) boxes.push(box(node, 0, 1));
      const pending = [[focus, 0, 1]];
      let depth = 0;
      while (pending.length) {
        const [node, left, width] = pending.pop();
        boxes.push(box(node, left, width));
        depth = Math.max(depth, node.depth);
        let start = left;
        for (const child of node.children) {
          const part = node.counts[value] ? width * child.counts[value] / node.counts[value] : 0;
          if (part >= leastWidth) pending.push([child, start, part]);
          start += part;
        }
      }
      byID("graph").style.height = (depth + 1) * rowHeight + "px";
      byID("graph").replaceChildren(...boxes);
      byID("found").textContent = found();
    }

    document.title = title;
    document.querySelector("h1").textContent = title;
    byID("note").textContent = note;
    values.forEach(([name], index) => byID("value").add(new Option(name, index, index === shown, index === shown)));
    byID("value").onchange = (event) => { value = Number(event.target.value); draw(); describe(focus); };
    byID("search").oninput = (event) => { pattern = event.target.value.toLowerCase(); draw(); };
    document.onkeydown = (event) => { if (event.key === "Escape") { focus = tree[0]; draw(); describe(focus); } };
    draw();
    describe(focus);
    </script>
    </body>
    </html>

    """
}
