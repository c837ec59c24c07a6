// Python for the browser (Pyodide) with NumPy and the course's checks, in a worker of its own.
//
// Hears {notebook, hints} once, then any number of {request}; says {loaded: [done, all]} in megabytes, {ready},
// {failed}, {runs: {exercise, sentence, seconds}}, {reply}, and {broken: exercise} when Python itself came down.

import { Files } from "./files.js";

const FOLDER = "/course";
const here = (file) => new URL(file, import.meta.url).href;

let began; // a promise of `serve`: from a request to its reply, both JSON
let running = ""; // the exercise whose answer runs

onmessage = async ({ data }) => {
  if (data.notebook) {
    began = begin(data);
    began.then(
      () => postMessage({ ready: true }),
      (error) => {
        console.warn(error);
        postMessage({ failed: true });
      },
    );
    return;
  }
  const serve = await began;
  running = data.request.exercise ?? "";
  try {
    postMessage({ reply: JSON.parse(serve(JSON.stringify(data.request))) });
  } catch (error) {
    console.warn(error);
    postMessage({ broken: running });
  }
};

/** Load Python, NumPy, the checks, and the page's notebook. Throws where one of them cannot be had. */
async function begin({ notebook, hints }) {
  const site = await (await fetch(here("python.json"))).json();
  const files = new Files(site, here("pyodide/"), (done, all) => postMessage({ loaded: [done / 1e6, all / 1e6] }));
  const own = Promise.all([notebook, hints, here(site.program)].map(bytes));
  own.catch(() => {}); // thrown below, where it is awaited
  const [{ loadPyodide }, { default: createPyodideModule }] = await Promise.all([
    files.import("pyodide.mjs"),
    files.import("pyodide.asm.mjs"),
  ]);
  self.fetch = (resource, options) => files.fetch(resource, options); // Pyodide asks for the others by itself
  const python = await loadPyodide({
    indexURL: here("pyodide/"),
    packageBaseUrl: here("pyodide/"),
    lockFileContents: site.lock,
    packages: Object.keys(site.lock.packages),
    createPyodideModule,
  });
  const [itsNotebook, itsHints, program] = await own;
  python.FS.mkdirTree(FOLDER);
  python.FS.writeFile(`${FOLDER}/page.ipynb`, itsNotebook);
  python.FS.writeFile(`${FOLDER}/hints.json`, itsHints);
  python.FS.writeFile(`${FOLDER}/program.zip`, program);
  python.runPython(`import sys; sys.path.insert(0, "${FOLDER}/program.zip")`);
  const { Path } = python.pyimport("pathlib");
  const { Door } = python.pyimport("autograder.in_page");
  const door = Door(Path(`${FOLDER}/page.ipynb`), (exercise, sentence, seconds) => {
    running = exercise || running;
    postMessage({ runs: { exercise, sentence, seconds } });
  });
  return (request) => door.serve(request);
}

async function bytes(url) {
  const reply = await fetch(url);
  if (!reply.ok) throw new Error(`${url}: ${reply.status}`);
  return new Uint8Array(await reply.arrayBuffer());
}
