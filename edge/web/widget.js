"use strict";

// Shows an event's tickets where this script stands in the page of somebody else, in a frame as high as what it
// shows. It leaves nothing else in that page, and reads nothing of it.
(() => {
  const script = document.currentScript;
  const origin = new URL(script.src).origin;
  const frame = document.createElement("iframe");
  frame.src = `${origin}/embed/e/${encodeURIComponent(script.dataset.event || "")}`;
  frame.title = script.dataset.title || "Tickets";
  frame.loading = "lazy";
  Object.assign(frame.style, { width: "100%", maxWidth: "560px", height: "560px", border: "0" });
  script.after(frame);
  addEventListener("message", (e) => {
    const height = e.origin === origin && e.source === frame.contentWindow && e.data && Number(e.data.boxofficeHeight);
    if (height > 0) frame.style.height = `${Math.min(height, 4000)}px`;
  });
})();
