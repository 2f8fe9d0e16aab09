// Announces to screen readers what has just happened on the page.
import { signal } from '@preact/signals'

const said = signal('')

/** @param text a sentence */
export function say(text: string): void {
  // The same again is told again.
  said.value = said.value === text ? `${text}\u00a0` : text
}

/** It is there before it says something: else readers of screens may not hear of it. */
export function Said() {
  return (
    <div class="visually-hidden" role="status" aria-label="What has happened">
      {said.value}
    </div>
  )
}
