// Tables as files for spreadsheets.

/** csvOf writes rows as CSV (RFC 4180, UTF-8 with a byte order mark). A cell that a spreadsheet would calculate begins with an apostrophe. */
export function csvOf(rows: string[][]): string {
  return '\ufeff' + rows.map((row) => row.map(cell).join(',') + '\r\n').join('');
}

function cell(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) && !/^-?\d+(\.\d+)?$/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replace(/"/g, '""')}"` : safe;
}

/** saveFile has the browser save a text as a file. */
export function saveFile(name: string, text: string, type: string) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
