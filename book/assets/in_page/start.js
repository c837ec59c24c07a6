// Lets the exercises of this page be done in it. No module itself: it also has to speak in a page opened as a file.
(() => {
  const bar = document.getElementById("in-page");
  if (!bar) return;
  const data = JSON.parse(document.getElementById("in-page-data").textContent);
  if (location.protocol !== "file:") {
    import(new URL("page.js", document.currentScript.src)).then(({ begin }) => begin(bar, data));
    return;
  }
  const words = document.createElement("p");
  words.innerHTML = data.words.file.replace(/`(.*?)`/g, "<code>$1</code>");
  bar.append(words);
  bar.hidden = false;
})();
