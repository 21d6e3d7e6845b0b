// The words of `after` that `before` lacks in that place: [{ start, end }, ...].

export function changed(before, after) {
  const cut = (text) => [...text.matchAll(/[\p{L}\p{M}\p{N}]+['’]?|[^\s\p{L}\p{M}\p{N}]/gu)];
  const A = cut(before), B = cut(after);
  const longest = Array.from({ length: A.length + 1 }, () => new Uint16Array(B.length + 1));
  for (let i = A.length - 1; i >= 0; i--) for (let j = B.length - 1; j >= 0; j--)
    longest[i][j] = A[i][0] === B[j][0] ? longest[i + 1][j + 1] + 1 : Math.max(longest[i + 1][j], longest[i][j + 1]);
  const kept = new Set();
  for (let i = 0, j = 0; i < A.length && j < B.length;) {
    if (A[i][0] === B[j][0]) { kept.add(j); i++; j++; } else if (longest[i + 1][j] >= longest[i][j + 1]) i++; else j++;
  }
  return B.filter((_, j) => !kept.has(j)).map(({ 0: word, index }) => ({ start: index, end: index + word.length }));
}
