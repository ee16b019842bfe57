// What a report does in the browser: its slider, and what a reader takes away. Nothing is requested.
(() => {
  const save = (name, blob) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  };

  // A text that a spreadsheet would run as a formula begins with an apostrophe.
  const cell = (value) => {
    if (value === null || value === undefined) return "";
    let text = String(value);
    if (typeof value === "string" && /^[=+\-@\t\r]/.test(text)) text = `'${text}`;
    return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const csv = (table) => [table.columns, ...table.rows].map((row) => row.map(cell).join(","))
    .join("\r\n");

  // A picture of its own has the colors of paper: variables are replaced by what stands behind them.
  const alone = (figure) => {
    const svg = figure.querySelector("svg").cloneNode(true);
    const [, , width, height] = svg.getAttribute("viewBox").split(" ");
    svg.setAttribute("width", width);
    svg.setAttribute("height", height);
    for (const one of svg.querySelectorAll("[data-kk]")) one.removeAttribute("data-kk");
    const text = new XMLSerializer().serializeToString(svg);
    return [text.replace(/var\(--\w+,\s*(#[0-9a-f]{6})\)/g, "$1"), Number(width), Number(height)];
  };
  const png = (figure, name) => {
    const [text, width, height] = alone(figure);
    const image = new Image();
    image.onload = () => {
      const canvas = document.createElement("canvas");
      canvas.width = 3 * width;
      canvas.height = 3 * height;
      const paper = canvas.getContext("2d");
      paper.fillStyle = "#ffffff";
      paper.fillRect(0, 0, canvas.width, canvas.height);
      paper.drawImage(image, 0, 0, canvas.width, canvas.height);
      canvas.toBlob((blob) => save(name, blob), "image/png");
    };
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  };

  const copy = async (button) => {
    const code = button.parentElement.querySelector("code");
    try {
      await navigator.clipboard.writeText(code.textContent);
    } catch {
      getSelection().selectAllChildren(code);
      document.execCommand("copy");
    }
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  };

  const slide = (piece) => {
    const data = JSON.parse(piece.querySelector("script.points").textContent);
    const slider = piece.querySelector("input");
    const value = piece.querySelector("output");
    const state = piece.querySelector(".state");
    const chips = piece.querySelector(".chips");
    const rule = piece.querySelector('[data-kk="rule"]');
    const show = () => {
      const i = Number(slider.value);
      const point = data.points[i];
      if (rule) rule.setAttribute("transform", `translate(${point.x - data.x} 0)`);
      const here = i === data.chosen ? " (selected)" : "";
      value.textContent = point.sparsity + here;
      slider.setAttribute("aria-valuetext", `penalty ${point.sparsity}, ${point.count} columns`);
      const error = point.error === null ? "" : `, ${data.errorName} ${point.error} over the folds`;
      const noun = point.count === 1 ? "column" : "columns";
      state.textContent = `${point.count} ${noun} selected${error}.`;
      const texts = point.top.map(([name, weight]) => `${name} ${weight}`);
      if (point.count > texts.length) texts.push(`and ${point.count - texts.length} more`);
      chips.replaceChildren(...texts.map((text) => {
        const chip = document.createElement("li");
        chip.textContent = text;
        return chip;
      }));
    };
    slider.addEventListener("input", show);
    show();
  };

  for (const page of document.querySelectorAll(".kk:not([data-ready])")) {
    page.dataset.ready = "yes";
    const holder = page.querySelector("script.tables");
    const tables = holder ? JSON.parse(holder.textContent) : {};
    for (const piece of page.querySelectorAll(".kk-path")) slide(piece);
    for (const button of page.querySelectorAll(".take")) {
      const figure = button.closest("figure");
      const name = button.dataset.csv;
      if (name !== undefined && !(name in tables)) continue;
      button.hidden = false;
      if (figure) button.setAttribute("aria-label", `${button.textContent} of this figure`);
      if (name) button.setAttribute("aria-label", `CSV of the table ${name.replaceAll("_", " ")}`);
      button.addEventListener("click", () => {
        if (name) save(`${name}.csv`, new Blob(["\ufeff", csv(tables[name])], { type: "text/csv" }));
        else if (!figure) copy(button);
        else if ("png" in button.dataset) png(figure, `${figure.dataset.figure}.png`);
        else save(`${figure.dataset.figure}.svg`, new Blob([alone(figure)[0]], { type: "image/svg+xml" }));
      });
    }
  }
})();
