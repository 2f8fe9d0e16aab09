// The page of a plan in a real browser: its map is drawn, and nothing else is asked for.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { printPlanHtml } from '#judge/print/html.ts'
import { useBrowser } from '#test/support/chromium.ts'
import { planOfCountries } from '#test/support/country-plan.ts'
import { tempDir } from '#test/support/temp-dir.ts'

const openPage = useBrowser(60_000)

/** How a country is shown: its width on the screen, and its colour. */
const shown = `(code) => {
  const one = document.querySelector('.map use[href="#in-' + code + '"]')
  const { width } = one.getBoundingClientRect()
  return [width > 2, getComputedStyle(one).fill]
}`

test('countries whose clients move are blue, by the page alone', async () => {
  const file = join(tempDir('plan-page'), 'plan.html')
  writeFileSync(file, printPlanHtml(planOfCountries()))
  const { page, requests, faults } = await openPage()
  const url = pathToFileURL(file).href
  await page.goto(url)
  for (const code of ['DE', 'AU', 'AD'])
    expect(await page.evaluate(`(${shown})('${code}')`)).toEqual([true, 'rgb(37, 99, 235)'])
  expect([await page.locator('.map').count(), faults]).toEqual([1, []])
  expect(requests).toEqual([url])
})
