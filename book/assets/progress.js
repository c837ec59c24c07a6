// The reader's way through the course, kept in this browser. The keys are those of _ext/course_site/progress.py.
(() => {
  const READ = "course:read:";
  const EXERCISE = "course:exercise:";
  const foot = document.getElementById("course-progress");
  if (!foot) return;
  const words = JSON.parse(foot.dataset.words);
  const fill = (key, blanks) => words[key].replace(/\{(\w+)\}/g, (_, name) => blanks[name]);
  let kept;
  try {
    kept = window.localStorage;
  } catch {
    return; // a browser that keeps nothing
  }

  const isRead = (page) => kept.getItem(READ + page) === "yes";
  const passed = (page) =>
    Object.keys(kept).filter((key) => key.startsWith(`${EXERCISE}${page}:`) && kept.getItem(key) === "passed").length;

  function mark(page, read) {
    if (read) kept.setItem(READ + page, "yes");
    else kept.removeItem(READ + page);
    document.dispatchEvent(new Event("course:progress"));
  }

  // What stands after a link: a sign to see, and words to hear.
  function note(link, sign, said) {
    link.querySelector(".progress-note")?.remove();
    if (!sign) return;
    const element = document.createElement("span");
    element.className = "progress-note";
    const seen = document.createElement("span");
    seen.ariaHidden = "true";
    seen.textContent = sign;
    const heard = document.createElement("span");
    heard.className = "visually-hidden";
    heard.textContent = ` (${said})`;
    element.append(seen, heard);
    link.append(element);
  }

  function show() {
    for (const link of document.querySelectorAll("a[data-chapter]")) {
      note(link, isRead(link.dataset.chapter) ? "✓" : "", words.done);
    }
    for (const link of document.querySelectorAll("a[data-exercises]")) {
      const blanks = { passed: passed(link.dataset.exercises), all: link.dataset.count };
      note(link, blanks.passed ? `${blanks.passed}/${blanks.all}` : "", fill("passed", blanks));
    }
    const box = foot.querySelector("input");
    if (box) box.checked = isRead(foot.dataset.page);
    showSoFar(document.querySelector(".so-far"));
  }

  // On the first page: how much was read, and what comes next.
  function showSoFar(place) {
    if (!place) return;
    const chapters = [...document.querySelectorAll(".bd-docs-nav a[data-chapter]")];
    const unread = chapters.filter((link) => !isRead(link.dataset.chapter));
    place.hidden = unread.length === chapters.length;
    if (place.hidden) return place.replaceChildren();
    const said = document.createElement("p");
    said.append(fill("so_far", { read: chapters.length - unread.length, all: chapters.length }));
    if (unread.length) {
      const next = document.createElement("a");
      next.href = unread[0].href;
      next.textContent = unread[0].firstChild.textContent.trim();
      said.append(` ${words.next} `, next, ".");
    }
    const reset = document.createElement("button");
    reset.type = "button";
    reset.textContent = words.reset;
    reset.addEventListener("click", () => {
      for (const key of Object.keys(kept)) if (key.startsWith(READ)) kept.removeItem(key);
      document.dispatchEvent(new Event("course:progress"));
      place.hidden = false;
      place.textContent = words.forgotten;
      place.tabIndex = -1;
      place.focus();
    });
    const where = document.createElement("small");
    where.textContent = words.kept;
    place.replaceChildren(said, reset, where);
  }

  const box = foot.querySelector("input");
  if (box) {
    foot.hidden = false;
    box.addEventListener("change", () => {
      watch.disconnect(); // the reader has decided
      mark(foot.dataset.page, box.checked);
    });
    // Who has come to the foot of the page, and stays for two seconds, has read it.
    let stay;
    const watch = new IntersectionObserver(([seen]) => {
      clearTimeout(stay);
      if (seen.isIntersecting && window.scrollY > 0) stay = setTimeout(() => mark(foot.dataset.page, true), 2000);
    });
    watch.observe(foot);
  }
  document.addEventListener("course:progress", show);
  window.addEventListener("storage", show);
  show();
})();
