// Where the files of Python for the browser come from, and how much of them is there.
//
// python.json, made when the book is built, says which of them lie on this site. One that does not, or does not come,
// is taken from the public copy of the same version, and only if its hash is the one that is written there.

const browserFetch = fetch.bind(self); // the worker puts ours in its place

export class Files {
  #files;
  #publicCopy;
  #folder;
  #tell;
  #done = 0;
  #all = 0;

  /** `site`: python.json; `folder`: where they lie on this site; `tell(done, all)`: bytes. */
  constructor({ files, public_copy: publicCopy }, folder, tell) {
    this.#files = files;
    this.#publicCopy = publicCopy;
    this.#folder = folder;
    this.#tell = tell;
    this.#all = Object.values(files).reduce((sum, file) => sum + file.bytes, 0);
  }

  /** As the browser's `fetch`; of the files, whose names tell them, from where they are. */
  async fetch(resource, options) {
    const name = String(resource.url ?? resource).split("/").pop();
    return name in this.#files ? this.#get(name) : browserFetch(resource, options);
  }

  /** Import one of the files, a script. */
  async import(name) {
    if (this.#files[name].here) {
      try {
        const module = await import(this.#folder + name);
        this.#count(this.#files[name].bytes);
        return module;
      } catch (error) {
        console.warn(error); // perhaps the server does not know what a .mjs is
      }
    }
    const script = new Blob([await (await this.#get(name)).arrayBuffer()], { type: "text/javascript" });
    return import(URL.createObjectURL(script));
  }

  async #get(name) {
    if (this.#files[name].here) {
      try {
        const reply = await browserFetch(this.#folder + name);
        if (reply.ok) {
          this.#follow(reply.clone()).catch(() => {}); // whoever reads the reply meets the same fault
          return typed(reply, name);
        }
      } catch (error) {
        console.warn(error);
      }
    }
    const { integrity, bytes } = this.#files[name];
    const reply = await browserFetch(this.#publicCopy + name, { integrity, credentials: "omit" });
    if (!reply.ok) throw new Error(`${name}: ${reply.status}`);
    this.#count(bytes);
    return typed(reply, name);
  }

  /** Count the pieces of a reply as they come. Of a copy: what is compiled from the reply itself, a browser keeps. */
  async #follow({ body }) {
    const reader = body.getReader();
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) this.#count(piece.value.byteLength);
  }

  #count(bytes) {
    this.#done += bytes;
    this.#tell(Math.min(this.#done, this.#all), this.#all);
  }
}

/** The reply, with the type that WebAssembly must have, whatever the server takes it for. */
function typed(reply, name) {
  const right = !name.endsWith(".wasm") || reply.headers.get("content-type") === "application/wasm";
  return right ? reply : new Response(reply.body, { headers: { "content-type": "application/wasm" } });
}
