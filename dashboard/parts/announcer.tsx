// Announces to screen readers what has just happened on the page.
import { signal } from '@preact/signals'

const announced = signal('')

/** @param text a sentence */
export function announce(text: string): void {
  // The same text twice is announced twice.
  announced.value = announced.value === text ? `${text}\u00a0` : text
}

/** Mounted before the first text: screen readers may miss a region that comes with its text. */
export function Announcer() {
  return (
    <div class="visually-hidden" role="status" aria-label="What has happened">
      {announced.value}
    </div>
  )
}
