// Tables as files for spreadsheets.

/** csvOf writes rows as CSV (RFC 4180, UTF-8 with a byte order mark). A cell that a spreadsheet would calculate begins with an apostrophe. */
export function csvOf(rows: string[][]): string {
  return '\ufeff' + rows.map((row) => row.map(cell).join(',') + '\r\n').join('');
}

// A spreadsheet may skip what nobody sees before a formula, and takes full-width signs for the others.
const formula = /^([\t\r\n]|[\s\p{Cc}\p{Cf}]*[=+\-@＝＋－＠])/u;

function cell(text: string): string {
  const safe = formula.test(text) && !/^-?\d+(\.\d+)?$/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replace(/"/g, '""')}"` : safe;
}
