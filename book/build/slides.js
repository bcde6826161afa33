// Starts the slides. A body that is too long for its slide is set smaller, step by step, until it fits.
(() => {
  const SMALLEST = 0.5;

  function fit(section) {
    const body = section?.querySelector(".body");
    if (!body || body.dataset.fit) return;
    const size = parseFloat(getComputedStyle(body).fontSize);
    const parts = [...body.querySelectorAll("table, pre, .asked, figcaption")].map((part) => [part, parseFloat(getComputedStyle(part).fontSize)]);
    const over = () => body.scrollHeight > body.clientHeight + 1 || body.scrollWidth > body.clientWidth + 1;
    let scale = 1;
    while (over() && scale > SMALLEST) {
      scale -= 0.04;
      body.style.fontSize = `${size * scale}px`;
      for (const [part, own] of parts) part.style.fontSize = `${own * scale}px`;
    }
    body.dataset.fit = scale.toFixed(2);
  }

  function notes() {
    Reveal.configure({ showNotes: !Reveal.getConfig().showNotes });
    Reveal.layout(); // the slide gives them a quarter of its width
  }

  Reveal.initialize({
    width: 1280,
    height: 720,
    margin: 0.02,
    center: false,
    display: "flex",
    hash: true,
    transition: "none",
    slideNumber: "c/t",
    pdfSeparateFragments: false,
    pdfMaxPagesPerSlide: 1, // what is too long is set smaller, but only after pages have been counted
    showNotes: new URLSearchParams(location.search).get("showNotes") ?? false,
    keyboard: { 83: notes },
  });
  Reveal.on("ready", (event) => fit(event.currentSlide));
  Reveal.on("slidechanged", (event) => fit(event.currentSlide));
  Reveal.on("pdf-ready", () => document.querySelectorAll(".slides section").forEach(fit));
})();
