// Tells whether somebody is typing, so that what can wait waits for a pause.

export const pauseMs = 200
let pause: ReturnType<typeof setTimeout> | undefined

addEventListener(
  'keydown',
  () => {
    clearTimeout(pause)
    pause = setTimeout(() => (pause = undefined), pauseMs)
  },
  true,
)

/** Something was typed a moment ago. */
export const isTyping = (): boolean => pause !== undefined
