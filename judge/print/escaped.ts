// Escapes texts of the configuration and of databases for HTML.

export function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}

export function code(text: string): string {
  return `<code>${escaped(text)}</code>`
}
