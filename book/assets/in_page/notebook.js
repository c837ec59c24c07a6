// The learner's notebook: the released one, with the answers in the place of the stubs.

/** Save `file`, which lies beside the page, with `answers` in it. Throws where it cannot be fetched. */
export async function download(file, answers) {
  const reply = await fetch(file);
  if (!reply.ok) throw new Error(reply.statusText);
  const notebook = withAnswers(await reply.json(), answers);
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([`${JSON.stringify(notebook, null, 1)}\n`], { type: "application/x-ipynb+json" }));
  link.download = file;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000); // some browsers take their time
}

/** The notebook with each answer in its cell; ids and nbgrader's marks stay, by which it is graded. */
function withAnswers(notebook, answers) {
  for (const cell of notebook.cells) {
    const { solution, grade_id: name } = cell.metadata.nbgrader ?? {};
    if (solution && name in answers) cell.source = answers[name].split(/(?<=\n)/);
  }
  return notebook;
}
