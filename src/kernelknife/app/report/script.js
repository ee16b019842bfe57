// Moves the marked penalty of every path on the page; the numbers come with each of them.
(() => {
  for (const piece of document.querySelectorAll(".kk-path:not([data-ready])")) {
    piece.dataset.ready = "yes";
    const data = JSON.parse(piece.querySelector("script").textContent);
    const slider = piece.querySelector("input");
    const value = piece.querySelector("output");
    const state = piece.querySelector(".state");
    const chips = piece.querySelector(".chips");
    const rule = piece.querySelector("[data-kk]");
    const show = () => {
      const i = Number(slider.value);
      const point = data.points[i];
      rule.setAttribute("x1", point.x);
      rule.setAttribute("x2", point.x);
      const here = i === data.chosen ? " (selected)" : "";
      value.textContent = point.sparsity + here;
      slider.setAttribute("aria-valuetext", `penalty ${point.sparsity}, ${point.count} columns`);
      const error = point.error === null ? "" : `, ${data.errorName} ${point.error} over the folds`;
      const noun = point.count === 1 ? "column" : "columns";
      state.textContent = `${point.count} ${noun} selected${error}.`;
      chips.replaceChildren(...point.top.map(([name, weight]) => {
        const chip = document.createElement("li");
        chip.textContent = `${name} ${weight}`;
        return chip;
      }));
      if (point.count > point.top.length) {
        const rest = document.createElement("li");
        rest.textContent = `and ${point.count - point.top.length} more`;
        chips.append(rest);
      }
    };
    slider.addEventListener("input", show);
    show();
  }
})();
