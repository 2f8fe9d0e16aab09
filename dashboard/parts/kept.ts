// What a reader has chosen for this browser: it stays when the page is closed, where it may.

export function keptOf(key: string): string | undefined {
  try {
    return localStorage.getItem(key) ?? undefined
  } catch {
    return undefined
  }
}

export function keep(key: string, text: string): void {
  try {
    localStorage.setItem(key, text)
  } catch {
    // Without storage the choice lasts as long as the page.
  }
}
