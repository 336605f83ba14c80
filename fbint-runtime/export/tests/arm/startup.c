/* Where a Cortex-M begins: its stack, and its floating-point unit, before the program of newlib. */
#include <stdint.h>

extern uint32_t stack_top;
void _start(void);

void begin(void)
{
    *(volatile uint32_t *)0xE000ED88 |= 0xF << 20;
    __asm volatile("dsb\n isb");
    _start();
}

__attribute__((section(".vectors"), used)) static const void *const vectors[] = { &stack_top, (const void *)begin };
