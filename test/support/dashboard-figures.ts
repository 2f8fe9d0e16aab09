// Measures the dashboard by the browser's own clocks and keeps the figures.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { pictures } from './screens.ts'

const figures: Record<string, number> = {}

/** Written beside the pictures. */
export function noteFigures(found: Readonly<Record<string, number>>): void {
  for (const [name, value] of Object.entries(found)) figures[name] = Math.round(value * 10) / 10
  mkdirSync(pictures, { recursive: true })
  writeFileSync(join(pictures, '../figures.json'), `${JSON.stringify(figures, null, 2)}\n`)
}

/** Milliseconds from an act to the frame that has the sign. */
export const shownIn = (page: Page, act: string, sign: string): Promise<number> =>
  page.evaluate<number>(`new Promise((resolve) => {
    const begin = performance.now()
    const look = () => ${sign} ? resolve(performance.now() - begin) : requestAnimationFrame(look)
    ${act}
    requestAnimationFrame(look)
  })`)

/** From the key event to the task after the next painted frame. */
const meter = `
  globalThis.keyMs = []
  addEventListener('keydown', ({ timeStamp }) => requestAnimationFrame(() => {
    const { port1, port2 } = new MessageChannel()
    port1.onmessage = () => {
      keyMs.push(performance.now() - timeStamp)
      globalThis.onPainted?.()
    }
    port2.postMessage(0)
  }), true)
  globalThis.painted = (count) =>
    new Promise((resolve) => {
      globalThis.onPainted = () => keyMs.length >= count && resolve()
      globalThis.onPainted()
    })
  undefined`

/** Types the keys one by one, each after the frame of the previous one. */
export async function keysToPaint(page: Page, keys: readonly string[]): Promise<number[]> {
  await page.evaluate(meter)
  for (const [i, key] of keys.entries()) {
    await page.keyboard.press(key)
    await page.evaluate(`painted(${i + 1})`)
  }
  return page.evaluate<number[]>('keyMs')
}

/** @param part 0.5: the median */
export const quantile = (values: readonly number[], part: number): number =>
  values.toSorted((a, b) => a - b)[Math.ceil(values.length * part) - 1]!
