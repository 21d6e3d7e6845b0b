// What a lesson that trained something takes from its record, which may be older than the page.

export function recorded({ result }, ...names) {
  if (names.some((name) => result?.[name] === undefined))
    throw new Error("This record of the lessons is older than the page. Run them again: seq2see lessons");
  return result;
}
