// Light or dark: as the system has it until the reader chooses; the choice stays in this browser.
import { effect, signal } from '@preact/signals'
import { storeChoice, storedChoice } from './stored-choice.ts'

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
  storeChoice(key, isDark.value ? 'dark' : 'light')
}

function chosen(): boolean | undefined {
  const kept = storedChoice(key)
  return kept === undefined ? undefined : kept === 'dark'
}
