// What the pages do beyond the theme's own scripts. Without any, everything can be read.
(() => {
  // What scrolls sideways can be reached with the keyboard, and only then. Without script, browsers do so themselves.
  const boxes = ".bd-article :is(div.math, table.table, .drawn-scroll, div.highlight pre)";
  const reach = () => {
    for (const box of document.querySelectorAll(boxes)) {
      // Code that is folded now may be opened later: it can always be reached.
      if (box.tagName === "PRE" || box.scrollWidth > box.clientWidth) box.tabIndex = 0;
      else box.removeAttribute("tabindex");
    }
  };
  window.addEventListener("load", reach);
  window.addEventListener("resize", reach);

  // A menu closes with Escape, and when something else is clicked or reached.
  const menus = document.querySelectorAll("details.page-menu");
  const close = (menu) => menu.removeAttribute("open");
  for (const menu of menus) {
    menu.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !menu.open) return;
      close(menu);
      menu.querySelector("summary").focus();
    });
  }
  for (const happens of ["click", "focusin"]) {
    document.addEventListener(happens, (event) => {
      for (const menu of menus) if (!menu.contains(event.target)) close(menu);
    });
  }

  // The contents of the page show where in it the reader is: at the last heading above the middle of the window.
  const links = [...document.querySelectorAll(".bd-toc-nav a[href^='#']")];
  const headings = links.map((link) => document.getElementById(decodeURIComponent(link.hash.slice(1))));
  const follow = () => {
    const passed = headings.filter((heading) => heading?.getBoundingClientRect().top < innerHeight / 2).length;
    links.forEach((link, number) => {
      const here = number === Math.max(passed, 1) - 1;
      link.classList.toggle("active", here);
      if (here) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    });
  };
  if (links.length) {
    let waiting = 0;
    addEventListener("scroll", () => (waiting ||= requestAnimationFrame(() => (follow(), (waiting = 0)))), { passive: true });
    addEventListener("load", follow); // not before: asking for places makes a browser lay out the page at once
  }

  // On paper every page is light.
  const page = document.documentElement.dataset;
  let theme;
  addEventListener("beforeprint", () => ([theme, page.theme] = [page.theme, "light"]));
  addEventListener("afterprint", () => (page.theme = theme));

  // A page of a folder may not look into its neighbours: there, the search names pages without a passage of each.
  if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
})();
