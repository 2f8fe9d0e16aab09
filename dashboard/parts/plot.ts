// Draws a chart with uPlot in the colours of the style sheet.
import UPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'

export interface Series {
  readonly name: string
  /** Name of a custom property of the style sheet. */
  readonly color: string
}

const leastSeconds = 60
const daySeconds = 86_400

/** In the reader's zone and language, as long as the distance of the ticks wants. */
function timesOf(_plot: UPlot, ticks: readonly number[]): string[] {
  const step = (ticks[1] ?? Infinity) - ticks[0]!
  const format = new Intl.DateTimeFormat(
    undefined,
    step >= daySeconds
      ? { month: 'short', day: 'numeric' }
      : { timeStyle: step < 60 ? 'medium' : 'short' },
  )
  return ticks.map((seconds) => format.format(seconds * 1_000))
}

/** `100K`: as wide as the place beside the chart. */
const short = new Intl.NumberFormat(undefined, { notation: 'compact' })

/** Widens a range that is too short: a chart of a single point would span years. */
const stretch = (low: number, high: number): [number, number] =>
  high - low < leastSeconds ? [high - leastSeconds, high] : [low, high]

export function drawPlot(
  element: HTMLElement,
  series: readonly Series[],
  data: readonly (readonly (number | null)[])[],
  height: number,
): UPlot {
  const style = getComputedStyle(document.documentElement)
  const color = (name: string): string => style.getPropertyValue(name).trim()
  const axis = {
    stroke: color('--text-soft'),
    grid: { stroke: color('--line'), width: 1 },
    ticks: { stroke: color('--line'), width: 1 },
    font: '12px system-ui, sans-serif',
  }
  return new UPlot(
    {
      width: element.clientWidth,
      height,
      cursor: { y: false, points: { size: 6 } },
      legend: { live: true },
      scales: {
        x: { range: (_plot, low, high) => stretch(low, high) },
        y: { range: (_plot, _low, high) => [0, Math.max(1, (high || 0) * 1.15)] },
      },
      axes: [
        { ...axis, space: 90, values: timesOf },
        { ...axis, size: 52, values: (_plot, ticks) => ticks.map((tick) => short.format(tick)) },
      ],
      series: [
        {},
        ...series.map((one) => ({
          label: one.name,
          stroke: color(one.color),
          width: 2,
          points: { show: false },
          value: (_plot: UPlot, value: number | null) =>
            value === null ? '–' : value.toLocaleString(undefined, { maximumFractionDigits: 1 }),
        })),
      ],
    },
    data as UPlot.AlignedData,
    element,
  )
}
