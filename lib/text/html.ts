// Escapes text for pages of HTML.

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

export const escapedHtml = (text: string): string =>
  text.replace(/[&<>"']/g, (one) => entities[one] ?? '')
