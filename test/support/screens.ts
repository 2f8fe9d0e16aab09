// Looks at each screen of the dashboard: rules of accessibility, and a picture in both themes.
import { mkdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Page } from 'playwright-core'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
/** Git does not see it; whoever changes a screen looks at it. */
const pictures = join(import.meta.dirname, '../../dist/screens')

const everyRule = "['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']"
/** In the other theme nothing else differs. */
const runOnly = { light: everyRule, dark: "{ type: 'rule', values: ['color-contrast'] }" } as const

const rules = (theme: 'light' | 'dark'): string => `axe
  .run(document, { runOnly: ${runOnly[theme]} })
  .then(({ violations }) => violations.map(({ id, nodes }) =>
    id + ': ' + nodes.slice(0, 3).map(({ target }) => target.join(' ')).join(', ')))`

/** @returns what is wrong, by screen and theme; a picture of each is in dist/screens */
export async function lookAt(page: Page, name: string): Promise<string[]> {
  mkdirSync(pictures, { recursive: true })
  await page.evaluate(axe)
  const found: string[] = []
  for (const theme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' })
    await page.screenshot({ path: join(pictures, `${name}-${theme}.png`), fullPage: true })
    const faults = await page.evaluate<string[]>(rules(theme))
    found.push(...faults.map((fault) => `${name}, ${theme}: ${fault}`))
  }
  return found
}
