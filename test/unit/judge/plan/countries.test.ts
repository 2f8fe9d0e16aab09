// Where in the world clients move: which countries, how many are not listed, and the map.
import { describe, expect, test } from 'vitest'
import { placesOfCountries } from '#dashboard/map/places.ts'
import { printPlanHtml } from '#judge/print/html.ts'
import { printPlanMarkdown } from '#judge/print/markdown.ts'
import { printPlan } from '#judge/print/text.ts'
import type { Style } from '#judge/print/text.ts'
import { otherCountries, planOfCountries, planOfMoving } from '#test/support/country-plan.ts'
import { planFaults } from '#test/support/plan-schema.ts'
import { smallModel } from '#test/support/bundle-models.ts'
import { planBetween } from '#test/support/plans.ts'
import { expectCommitted } from '../../schemas/committed-file.ts'
import { drawWorldMap, worldMapPath } from './world-map.ts'

const plan = planOfCountries()
const [scenario] = plan.scenarios
const plain: Style = (_, words) => words

test('each country has the largest part of its clients that moves at one name', () => {
  const countries = scenario!.countries!
  const names = new Map(countries.map(({ place, name }) => [place, name]))
  expect(names.get('DE')).toBe('germans.example.org.')
  for (const place of [...otherCountries, 'continent:OC', ''])
    expect([place, names.get(place)]).toEqual([place, 'others.example.org.'])
  // A new name moves nobody away.
  expect(new Set(names.values()).size).toBe(2)
  expect(countries.every(({ movedOfPlace }) => movedOfPlace === 1)).toBe(true)
  expect(planFaults(JSON.parse(JSON.stringify(plan)))).toBe('')
})

test('without a database there are none', () => {
  expect(planBetween(smallModel, smallModel).scenarios[0]!.countries).toBeNull()
})

describe('countries left out of a list are counted', () => {
  // In no database, on a continent, and 60 countries.
  const all = otherCountries.length + 2
  test('in JSON', () => {
    const change = scenario!.changes.find(({ name }) => name.startsWith('others'))
    const { countries, countriesOmitted, operators, operatorsOmitted } = change!.movement!.ipv4
    expect(countries).toHaveLength(50)
    expect(countriesOmitted).toBe(all - 50)
    expect([operators, operatorsOmitted]).toEqual([null, 0])
  })

  test.each([
    ['text', printPlan(plan, { style: plain, answersMax: 50 }), 8],
    ['Markdown', printPlanMarkdown(plan), 10],
    ['HTML', printPlanHtml(plan), 30],
  ])('in %s', (_, printed, listed) => {
    // The list of one answer, and the list of all, which has Germany as well.
    expect(printed).toContain(` and ${all - listed} more`)
    expect(printed).toContain(` and ${all + 1 - listed} more`)
    expect(printed).toContain('largest part of their clients that moves at one name')
  })
})

test('places are listed for some of a thousand movements, and counted for all', () => {
  const listed = planOfMoving(1_002).scenarios[0]!.changes.map(({ movement }) => {
    const { countries, countriesOmitted } = movement!.ipv4
    return [countries!.length, countriesOmitted]
  })
  const omitted = otherCountries.length + 3 - 50
  expect(listed.slice(0, 1_000)).toEqual(Array(1_000).fill([50, omitted]))
  expect(listed.slice(1_000)).toEqual(Array(2).fill([0, omitted + 50]))
})

describe('the map of the page', () => {
  const page = printPlanHtml(plan)

  test('shades the countries whose clients move, and says what it cannot show', () => {
    for (const code of ['DE', ...otherCountries.filter((one) => one !== 'AQ')]) {
      expect(page).toContain(`<path id="in-${code}" d="M`)
      expect(page).toMatch(
        new RegExp(`<use href="#in-${code}" fill-opacity="1.00"><title>${code} `),
      )
    }
    expect(page).not.toContain('<use href="#in-ZW"')
    expect(page).toMatch(/Not on the map: .*in no database 100 % \(others\.example\.org\.\)/)
  })

  test('asks for nothing outside the page', () => {
    for (const [, target] of page.matchAll(/(?:src|href|url)\s*[=(]\s*"?([^")\s]*)/g))
      expect(target).toMatch(/^#(world|in-[A-Z]{2})$/)
  })

  test('is left out where nobody is known to move', () => {
    const { scenarios } = plan
    const without = scenarios.map((one) => ({ ...one, countries: null }))
    expect(printPlanHtml({ ...plan, scenarios: without })).not.toContain('<svg')
  })
})

test(`${worldMapPath} is drawn from the atlas (GSLBD_UPDATE=1 draws it again)`, () => {
  const drawn = drawWorldMap()
  expectCommitted(worldMapPath, drawn)
  expect(drawn.length).toBeLessThan(60_000)
  const { paths } = JSON.parse(drawn) as { readonly paths: Readonly<Record<string, string>> }
  for (const [code] of placesOfCountries()) {
    if (code !== 'AQ') expect([code, paths[code]?.startsWith('M')]).toEqual([code, true])
  }
  for (const path of Object.values(paths)) expect(path).toMatch(/^[Mlaz0-9 -]+$/)
})
