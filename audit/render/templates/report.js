"use strict";
(() => {
  // Folded detail opens for print, and when a link leads into it.
  const folded = () => document.querySelectorAll("details:not([open])");
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...folded()];
    opened.forEach((d) => { d.open = true; });
  });
  addEventListener("afterprint", () => {
    opened.forEach((d) => { d.open = false; });
  });
  const reveal = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const holder = target && target.closest("details");
    if (holder) { holder.open = true; target.scrollIntoView(); }
  };
  addEventListener("hashchange", reveal);
  reveal();
})();
