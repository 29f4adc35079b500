"""What the screens need from outside, as protocols; the app gives the real ones, tests give fakes."""
