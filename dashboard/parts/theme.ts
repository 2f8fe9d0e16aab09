// Light or dark: as the system has it until the reader chooses; the choice stays in this browser.
import { effect, signal } from '@preact/signals'

const key = 'gslbd-theme'
const system = matchMedia('(prefers-color-scheme: dark)')

export const isDark = signal(chosen() ?? system.matches)

system.addEventListener('change', () => {
  if (chosen() === undefined) isDark.value = system.matches
})

effect(() => {
  document.documentElement.dataset['theme'] = isDark.value ? 'dark' : 'light'
})

export function toggleTheme(): void {
  isDark.value = !isDark.value
  try {
    localStorage.setItem(key, isDark.value ? 'dark' : 'light')
  } catch {
    // Without storage the choice lasts as long as the page.
  }
}

function chosen(): boolean | undefined {
  try {
    const kept = localStorage.getItem(key)
    return kept === null ? undefined : kept === 'dark'
  } catch {
    return undefined
  }
}
